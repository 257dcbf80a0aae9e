import { spawn } from 'node:child_process'

export interface RunOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** the whole environment of the program, beside PATH and a neutral locale */
  readonly env?: Readonly<Record<string, string>>
  /** bytes of memory it may have (RLIMIT_AS); needs util-linux' prlimit */
  readonly memoryLimit?: number
  /** bytes that a file it writes may have (RLIMIT_FSIZE) */
  readonly fileSizeLimit?: number
}

export interface Ran {
  readonly stdout: string
  readonly stderr: string
}

/** A program could not be started, ended with an error, or was stopped. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed'
  readonly program: string
  /** null: it never ran, or a signal ended it */
  readonly exitCode: number | null
  readonly stderr: string
  /** `ENOENT` when it is not installed */
  readonly code: string | undefined

  constructor(
    program: string,
    what: string,
    facts: { exitCode?: number | null; stderr?: string; cause?: unknown } = {},
  ) {
    const said = (facts.stderr ?? '').trim().slice(-1000)
    super(`${program} ${what}${said === '' ? '' : `: ${said}`}`, { cause: facts.cause })
    this.program = program
    this.exitCode = facts.exitCode ?? null
    this.stderr = facts.stderr ?? ''
    this.code = (facts.cause as NodeJS.ErrnoException | undefined)?.code
  }
}

const keptOutput = 1024 * 1024

/**
 * Runs a program by its argument vector; no shell is ever in between, and it gets nothing of our environment but PATH.
 * @throws ProgramFailed, or the signal's reason
 */
export async function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  const { timeoutMs, signal, env = {}, memoryLimit, fileSizeLimit } = options
  signal?.throwIfAborted()
  const limits = [
    ...(memoryLimit === undefined ? [] : [`--as=${memoryLimit}`]),
    ...(fileSizeLimit === undefined ? [] : [`--fsize=${fileSizeLimit}`]),
  ]
  const [command, argv] = limits.length === 0 ? [program, args] : ['prlimit', [...limits, '--', program, ...args]]
  const child = spawn(command, [...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', ...env },
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  collect(child.stdout, stdout)
  collect(child.stderr, stderr)
  let stopped: 'timeout' | 'signal' | undefined
  const stop = (why: 'timeout' | 'signal') => {
    stopped ??= why
    child.kill('SIGKILL')
  }
  const timer = setTimeout(() => stop('timeout'), timeoutMs)
  const onAbort = () => stop('signal')
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const [exitCode, killer] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', (cause) => reject(new ProgramFailed(command, 'could not be started', { cause })))
      child.once('close', (code, by) => resolve([code, by]))
    })
    const texts = { stdout: Buffer.concat(stdout).toString('utf8'), stderr: Buffer.concat(stderr).toString('utf8') }
    if (stopped === 'signal') signal?.throwIfAborted()
    if (stopped === 'timeout') throw new ProgramFailed(program, `did not end within ${timeoutMs / 1000} s`, texts)
    if (exitCode !== 0) {
      const how = exitCode === null ? `was ended by ${killer}` : `ended with ${exitCode}`
      throw new ProgramFailed(program, how, { exitCode, stderr: texts.stderr })
    }
    return texts
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Keeps the first of what a program says; the rest is read and dropped, so that it never blocks. */
function collect(stream: NodeJS.ReadableStream, into: Buffer[]): void {
  let length = 0
  stream.on('data', (part: Buffer) => {
    if (length < keptOutput) into.push(part.subarray(0, keptOutput - length))
    length += part.length
  })
}
