/** Real Ironic's objects on a database of ours, in a process of their own. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface IronicDb {
  /** Runs an action of `ironic_db.py`. @throws Error named as the Python exception */
  do<T = Record<string, unknown>>(
    action: string,
    args?: readonly unknown[],
    kwargs?: Record<string, unknown>,
  ): Promise<T>
  stop(): Promise<void>
}

/** A configuration file with that connection, for the commands of real Ironic. */
export async function ironicConfig(connection: string, more = ''): Promise<{ file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'openkeel-ironic-conf-'))
  const file = join(folder, 'ironic.conf')
  await writeFile(file, `[DEFAULT]\n${more}\n[database]\nconnection = ${connection}\n`, { mode: 0o600 })
  return { file, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Starts the process. @param venv folder of an environment with the release to use */
export async function startIronicDb(venv: string, connection: string, more = ''): Promise<IronicDb> {
  const config = await ironicConfig(connection, more)
  const child = spawn(join(venv, 'bin/python'), [join(import.meta.dirname, 'ironic_db.py'), config.file], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (data: Buffer) => (complaints = (complaints + data.toString()).slice(-20_000)))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    async do<T>(action: string, args: readonly unknown[] = [], kwargs: Record<string, unknown> = {}) {
      child.stdin.write(`${JSON.stringify({ action, args, kwargs })}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`Real Ironic ended: ${complaints}`)
      const answer = JSON.parse(value) as { result?: T; error?: string; message?: string }
      if (answer.error !== undefined) throw Object.assign(new Error(answer.message), { name: answer.error })
      return answer.result as T
    },
    async stop() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await gone
      clearTimeout(timer)
      await config.remove()
    },
  }
}
