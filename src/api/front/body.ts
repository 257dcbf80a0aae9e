/** Reading a request body within limits, before anything parses it. */
import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/index.ts'
import { NestingMeter } from '../../lib/json/exact.ts'

export type BodyRefusal = 'too large' | 'too deep'

/** Size limit of the body in bytes; config drives and inspection data may be large. */
export function bodyLimit(config: Config, path: string): number {
  const { api } = config
  const end = path.replace(/\/+$/, '')
  if (end.endsWith('states/provision')) return api.max_json_body_size_provision * 1024
  if (end.endsWith('continue_inspection')) return api.max_json_body_size_inspection * 1024
  return api.max_json_body_size * 1024
}

/**
 * The whole body, or why it is refused. What was refused is not kept: the rest of it is let through and forgotten.
 * Whatever the content type says: the limits hold for every body.
 */
export function readBody(raw: IncomingMessage, limit: number, maxDepth: number): Promise<Buffer | BodyRefusal> {
  const announced = raw.headers['content-length']
  if (announced === undefined && raw.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0))
  if (announced !== undefined && Number(announced) > limit) {
    raw.resume()
    return Promise.resolve('too large')
  }
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | BodyRefusal>()
  const chunks: Buffer[] = []
  const meter = new NestingMeter()
  let size = 0
  let refused: BodyRefusal | undefined
  raw.on('data', (chunk: Buffer) => {
    if (refused !== undefined) return
    size += chunk.length
    if (size > limit) refused = 'too large'
    else {
      meter.read(chunk)
      if (meter.deepest > maxDepth) refused = 'too deep'
    }
    if (refused === undefined) chunks.push(chunk)
    else {
      chunks.length = 0
      resolve(refused)
    }
  })
  raw.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
  raw.on('error', reject)
  raw.on('close', () => reject(new Error('the client went away before its request was complete')))
  return promise
}
