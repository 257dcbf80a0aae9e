import { IronicError } from '../errors/define.ts'
import { CommandLineExit, ConfigError } from '../lib/oslo-config/errors.ts'

/** A reason to end that the person at the terminal must read: a sentence that says what to change. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly status: number

  constructor(message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.status = options.status ?? 1
  }
}

/**
 * Runs the body of a command and ends the process with its status; what it throws becomes a sentence on standard error.
 * Statuses: 0 done, 1 failed, 2 the command line was not understood, and those that a command declares.
 */
export async function runCommand(program: string, body: () => Promise<number | void>): Promise<void> {
  try {
    process.exitCode = (await body()) ?? 0
  } catch (error) {
    process.exitCode = report(program, error)
  }
  // The process ends by itself when nothing is open any more. What is left open must not keep it from ending.
  setTimeout(() => {
    process.stderr.write(`${program}: ended by force, still open: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit()
  }, lingerMs).unref()
}

const lingerMs = 5000

function report(program: string, error: unknown): number {
  if (error instanceof CommandLineExit) {
    ;(error.status === 0 ? process.stdout : process.stderr).write(error.text)
    return error.status
  }
  process.stderr.write(`${program}: ${explain(error)}\n`)
  return error instanceof CommandFailure ? error.status : 1
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `the configuration cannot be used:\n${error.message}`
  if (error instanceof CommandFailure || error instanceof IronicError) return error.message
  if (error instanceof Error) return systemReason(error) ?? error.stack ?? error.message
  return String(error)
}

/** What to do about the faults of the operating system that a start meets. */
function systemReason(error: NodeJS.ErrnoException & { address?: string; port?: number }): string | undefined {
  const where = error.path ?? (error.port === undefined ? error.address : `${error.address}:${error.port}`)
  switch (error.code) {
    case 'EADDRINUSE':
      return `${where} is in use by another process: stop that one, or set another [api]port, [api]host_ip or [api]unix_socket.`
    case 'EADDRNOTAVAIL':
      return `${where} is no address of this machine: set [api]host_ip to one of them.`
    case 'EACCES':
      return `this user may not use ${where} (${error.syscall}): change its owner or mode, or the option that names it.`
    case 'ENOENT':
      return `${where} does not exist (${error.syscall}): create it, or change the option that names it.`
    default:
      return undefined
  }
}
