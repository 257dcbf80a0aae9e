import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { listen } from '../listen.ts'

/** A web server that hands out the files of one folder. */
export interface FileServer {
  readonly url: string
  /** paths that were asked for, with the status of the answer */
  readonly seen: readonly { readonly method: string; readonly path: string; readonly status: number }[]
  close(): Promise<void>
}

/** Serves `directory` with sizes and single ranges (RFC 9110 section 14), as a plain web server does. */
export async function startFileServer(directory: string, { host = '127.0.0.1', port = 0 } = {}): Promise<FileServer> {
  const seen: { method: string; path: string; status: number }[] = []
  const server = createServer((request, response) => {
    serve(directory, request, response)
      .then((status) => seen.push({ method: request.method ?? '', path: request.url ?? '', status }))
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  const listening = await listen(server, host, port)
  return { url: `http://${host}:${listening.port}`, seen, close: () => listening.close() }
}

async function serve(directory: string, request: IncomingMessage, response: ServerResponse): Promise<number> {
  const path = normalize(decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/'))
  const file = join(directory, path)
  const found = path.startsWith('/') && !path.includes('..') ? await stat(file).catch(() => null) : null
  if (found === null || !found.isFile()) {
    response.writeHead(404, { 'Content-Length': 0 }).end()
    return 404
  }
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
  const start = range === null ? 0 : Number(range[1])
  const end = range === null || range[2] === '' ? found.size - 1 : Math.min(Number(range[2]), found.size - 1)
  if (range !== null && start > end) {
    response.writeHead(416, { 'Content-Range': `bytes */${found.size}`, 'Content-Length': 0 }).end()
    return 416
  }
  const status = range === null ? 200 : 206
  response.writeHead(status, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': end - start + 1,
    'Accept-Ranges': 'bytes',
    'Last-Modified': found.mtime.toUTCString(),
    ...(range === null ? {} : { 'Content-Range': `bytes ${start}-${end}/${found.size}` }),
  })
  if (request.method === 'HEAD' || found.size === 0) response.end()
  else await pipeline(createReadStream(file, { start, end }), response)
  return status
}
