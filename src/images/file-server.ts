import { createReadStream } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Logger } from '../lib/oslo-log/logger.ts'

export interface FileServerOptions {
  /** folder whose files are served */
  readonly root: string
  /** folders outside it into which links of it may lead: where the images of instances lie */
  readonly linkedFolders?: readonly string[]
  readonly host: string
  /** 0: any free one */
  readonly port: number
  /** path before the names, as in `[deploy]http_url` */
  readonly prefix?: string
  readonly log: Logger
}

const contentTypes: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.iso': 'application/x-iso9660-image',
}

/**
 * A web server for boot and image files: GET and HEAD of regular files below one folder, whole or in one range. It lists nothing,
 * serves no hidden names, and follows no link that leads out of the folder, but into the folders named for that.
 */
export class FileServer {
  readonly address: AddressInfo
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
    this.address = server.address() as AddressInfo
  }

  /** Listens. @throws the system's error when the address is taken */
  static async start(options: FileServerOptions): Promise<FileServer> {
    const server = createServer(
      { requestTimeout: 30_000, headersTimeout: 15_000, keepAliveTimeout: 5000 },
      (request, response) => {
        serve(options, request, response).catch((error: unknown) => {
          options.log.warning('A file could not be served', { error })
          if (response.headersSent) response.destroy()
          else refuse(response, 500)
        })
      },
    )
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: options.host, port: options.port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return new FileServer(server)
  }

  /** Stops; downloads under way are cut off. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    await closed
  }
}

async function serve(options: FileServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return refuse(response, 405)
  }
  const names = pathNames(request.url ?? '/', options.prefix ?? '/')
  const file = names === null ? null : await openBelow(options.root, names, options.linkedFolders ?? [])
  if (file === null) return refuse(response, 404)
  try {
    await send(file, request, response)
  } finally {
    await file.handle.close()
  }
}

/** The parts of the path; null for one that cannot be a file of ours. */
export function pathNames(url: string, prefix: string): string[] | null {
  const path = url.split(/[?#]/, 1)[0]!
  const wanted = prefix.endsWith('/') ? prefix : `${prefix}/`
  if (!path.startsWith(wanted)) return null
  let names: string[]
  try {
    names = path.slice(wanted.length).split('/').map(decodeURIComponent)
  } catch {
    return null // not valid percent-encoding
  }
  const fine = (name: string) => name !== '' && !name.startsWith('.') && !/[/\\\0]/.test(name)
  return names.length > 0 && names.every(fine) ? names : null
}

interface OpenFile {
  readonly handle: FileHandle
  readonly path: string
  readonly size: number
  readonly modified: Date
}

async function openBelow(root: string, names: readonly string[], linked: readonly string[]): Promise<OpenFile | null> {
  let handle: FileHandle | undefined
  try {
    const top = await realpath(root)
    const path = await realpath(join(top, ...names))
    if (!path.startsWith(top + sep) && !(await isBelowAny(path, linked))) return null
    handle = await open(path, 'r')
    const found = await handle.stat()
    if (found.isFile()) return { handle, path, size: found.size, modified: found.mtime }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EISDIR'].includes(String(code))) throw error
  }
  await handle?.close()
  return null
}

/** A folder that is not there holds nothing. */
async function isBelowAny(path: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const top = await realpath(folder).catch(missing)
    if (top !== null && path.startsWith(top + sep)) return true
  }
  return false
}

function missing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}

async function send(file: OpenFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const tag = `"${file.size.toString(16)}-${file.modified.getTime().toString(16)}"`
  response.setHeader('Accept-Ranges', 'bytes')
  response.setHeader('ETag', tag)
  response.setHeader('Last-Modified', file.modified.toUTCString())
  response.setHeader('Content-Type', contentTypes[extname(file.path)] ?? 'application/octet-stream')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === tag ? parseRange(request.headers.range, file.size) : 'whole'
  if (range === 'outside') {
    response.setHeader('Content-Range', `bytes */${file.size}`)
    return refuse(response, 416)
  }
  const [start, end] = range === 'whole' ? [0, file.size - 1] : range
  if (range !== 'whole') response.setHeader('Content-Range', `bytes ${start}-${end}/${file.size}`)
  response.setHeader('Content-Length', end - start + 1)
  response.writeHead(range === 'whole' ? 200 : 206)
  if (request.method === 'HEAD' || file.size === 0) {
    response.end()
    return
  }
  try {
    await pipeline(
      createReadStream('', { fd: file.handle, start, end, autoClose: false, highWaterMark: 256 * 1024 }),
      response,
    )
  } catch (error) {
    // the other side has gone: it has what it wanted, or will ask again
    if (
      !(error instanceof Error) ||
      !('code' in error) ||
      !['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET'].includes(String(error.code))
    )
      throw error
  }
}

/** One range of bytes (RFC 9110 section 14.1.2); several, or one that makes no sense, are answered with the whole. */
export function parseRange(header: string | undefined, size: number): 'whole' | 'outside' | [number, number] {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return 'whole'
  const [, first = '', last = ''] = match
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'outside' : [size - length, size - 1]
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'outside' : [start, end]
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': 0 })
  response.end()
}
