import { InvalidParameterValue } from '../errors/base.ts'

/** A kernel command line: each name with its values in order (`''`: a bare word), and what is handed to init after `--`. */
export interface KernelCommandLine {
  readonly parameters: ReadonlyMap<string, readonly string[]>
  readonly init: string
}

/** One parameter: a name, and a value bare or in double quotes. Printable ASCII only, no quote inside a value. */
const parameter = /([A-Za-z0-9_.-]+)(?:=(?:"([!#-~ ]+)"|([!#-~]+)))?/y
const initArguments = /^ +-- +([!#-~ ]+)$/

/**
 * Reads a kernel command line strictly, so that nothing in it can end the line or the quoting of a boot loader's configuration.
 * @throws InvalidParameterValue at what is not `name`, `name=value` or `name="quoted value"`
 */
export function parseKernelCommandLine(text: string): KernelCommandLine {
  const line = text.trim()
  const parameters = new Map<string, string[]>()
  let at = 0
  while (at < line.length) {
    const rest = parameters.size > 0 ? initArguments.exec(line.slice(at)) : null
    if (rest !== null) return { parameters, init: rest[1]! }
    while (line[at] === ' ') at++
    parameter.lastIndex = at
    const match = parameter.exec(line)
    const [whole = '', name = '', quoted, bare] = match ?? []
    // a value must follow its equals sign
    if (match === null || (quoted === undefined && bare === undefined && line[at + whole.length] === '='))
      throw new InvalidParameterValue(
        `The kernel command line cannot be read at "${line.slice(at, at + 32)}"; write name, name=value or name="quoted value".`,
      )
    parameters.set(name, [...(parameters.get(name) ?? []), quoted ?? bare ?? ''])
    at += whole.length
    const quotedEnd = quoted !== undefined
    if (at < line.length && line[at] !== ' ' && !quotedEnd)
      throw new InvalidParameterValue(
        `The kernel command line cannot be read at "${line.slice(at, at + 32)}"; quote the whole value, and use printable ASCII only.`,
      )
  }
  return { parameters, init: '' }
}

/** One parameter as it is written. */
export const kernelParameter = (name: string, value: string): string =>
  value === '' ? name : `${name}=${value.includes(' ') ? `"${value}"` : value}`

/** All parameters as they are written, values of one name together. */
export const kernelWords = (line: KernelCommandLine): string[] =>
  [...line.parameters].flatMap(([name, values]) => values.map((value) => kernelParameter(name, value)))

export const kernelCommandLineText = (line: KernelCommandLine): string =>
  kernelWords(line).join(' ') + (line.init === '' ? '' : ` -- ${line.init}`)

/** Without what could start another line. */
// oxlint-disable-next-line no-control-regex -- NUL is one of them
export const sanitizeKernelCommandLine = (text: string): string => text.replace(/[\n\r\u0000]/g, '')

interface HasKernelParameters {
  readonly instance_info: Readonly<Record<string, unknown>> | null
  readonly driver_info: Readonly<Record<string, unknown>> | null
}

/**
 * Parameters that operators append: `kernel_append_params` of the instance, else of the driver, with `%default%` for the configured
 * ones; else those.
 * @throws InvalidParameterValue naming where a bad one stands
 */
export function kernelAppendParams(
  node: HasKernelParameters,
  usual: string | null,
  { disableParsing }: { disableParsing: boolean },
): string | null {
  for (const place of ['instance_info', 'driver_info'] as const) {
    const given = node[place]?.['kernel_append_params']
    if (given === undefined || given === null) continue
    if (typeof given !== 'string') throw new InvalidParameterValue(`kernel_append_params in ${place} must be a text.`)
    const text = given.replaceAll('%default%', usual ?? '')
    if (!disableParsing) checkIn(place, text)
    return sanitizeKernelCommandLine(text)
  }
  return usual
}

function checkIn(place: string, text: string): void {
  try {
    parseKernelCommandLine(text)
  } catch (cause) {
    if (!(cause instanceof InvalidParameterValue)) throw cause
    throw new InvalidParameterValue(`kernel_append_params in ${place}: ${cause.message}`, { cause })
  }
}
