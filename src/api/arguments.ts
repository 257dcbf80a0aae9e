/** Reads the declared parameters of a route out of the query string and the body. */
import { InvalidParameterValue, NotAcceptable, NotFound } from '../errors/base.ts'
import { MissingParameterValue } from '../errors/driver.ts'
import { setMember } from '../lib/json-patch/apply.ts'
import { isOpen, type Parameter, type Route } from './resource.ts'
import type { Members } from './values.ts'

const unquote = (text: string): string => {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // a stray percent sign stands for itself, as WebOb reads it
    return spaced.replace(/%([0-9a-fA-F]{2})/g, (_all, digits: string) => String.fromCharCode(parseInt(digits, 16)))
  }
}

/** The parameters of a query string; a repeated one is a list. */
export function parseQuery(query: string): Members {
  const result: Members = {}
  if (query === '') return result
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    append(
      result,
      unquote(equals === -1 ? pair : pair.slice(0, equals)),
      equals === -1 ? '' : unquote(pair.slice(equals + 1)),
    )
  }
  return result
}

function append(target: Members, key: string, value: unknown): void {
  if (!Object.hasOwn(target, key)) return setMember(target, key, value)
  const known: unknown = target[key]
  setMember(target, key, Array.isArray(known) ? [...(known as unknown[]), value] : [known, value])
}

/** Parameters of the query and members of the body, which real Ironic does not tell apart. */
export function merge(query: Members, body: Members): Members {
  const keys = Object.keys(body)
  if (keys.length === 0) return query
  const result = { ...query }
  for (const key of keys) append(result, key, body[key])
  return result
}

function tooNew(name: string, parameter: Parameter<unknown>): Error {
  const sentence = `The parameter ${name} needs API version 1.${parameter.since ?? 1} or newer.`
  if (parameter.below === 400) return new InvalidParameterValue(sentence)
  return parameter.below === 404 ? new NotFound(sentence) : new NotAcceptable(sentence)
}

/** @throws InvalidParameterValue, MissingParameterValue, NotAcceptable */
export function readArguments(route: Route, given: Members, minor: number): Members {
  const { args } = route
  if (!route.lenient) {
    const unknown = Object.keys(given).filter((key) => !Object.hasOwn(args, key))
    if (unknown.length > 0) throw new InvalidParameterValue(`Unexpected arguments: ${unknown.join(', ').slice(0, 256)}`)
  }
  const result: Members = {}
  for (const [name, parameter] of Object.entries(args)) {
    const value: unknown = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || (value === null && !parameter.required)) {
      if (value === undefined && parameter.required) {
        throw new MissingParameterValue(`Missing mandatory parameter: ${name}`)
      }
      result[name] = parameter.fallback
      continue
    }
    result[name] = parameter.value.read(name, value)
    if (!isOpen(parameter, minor)) throw tooNew(name, parameter)
  }
  return result
}
