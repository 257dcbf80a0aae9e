import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'

const compress = promisify(gzip)

/** The log archive that the agent hands over: base64 of a gzipped tar with the journal in it. */
export async function systemLogs(lines: readonly string[]): Promise<string> {
  const archive = pack()
  archive.entry({ name: 'journal', mode: 0o600 }, `${lines.join('\n')}\n`)
  archive.entry({ name: 'ps', mode: 0o600 }, 'PID CMD\n1 ironic-python-agent\n')
  archive.finalize()
  const parts: Buffer[] = []
  for await (const part of archive as AsyncIterable<Buffer>) parts.push(part)
  return (await compress(Buffer.concat(parts))).toString('base64')
}
