import { randomUUID } from 'node:crypto'

/** oslo.messaging's messages: an envelope of two strings, a request or a reply inside, and a failure inside a reply. */

const envelopeVersion = '2.0'

/** 32 hexadecimal digits. */
export const newId = (): string => randomUUID().replaceAll('-', '')

export type Message = Readonly<Record<string, unknown>>

/** A body that no peer of this protocol would send. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

export const encodeEnvelope = (message: Message): Buffer =>
  Buffer.from(JSON.stringify({ 'oslo.version': envelopeVersion, 'oslo.message': JSON.stringify(message) }))

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new MalformedMessage('the body is not JSON', { cause })
  }
  if (!isObject(value)) throw new MalformedMessage('the body is no object')
  return value
}

/** A message without an envelope is taken as it is. @throws MalformedMessage */
export function decodeEnvelope(body: Buffer): Message {
  const outer = parse(body.toString('utf8'))
  if (!('oslo.version' in outer)) return outer
  if (outer['oslo.version'] !== envelopeVersion)
    throw new MalformedMessage(`envelope version ${String(outer['oslo.version'])} is not ${envelopeVersion}`)
  if (typeof outer['oslo.message'] !== 'string') throw new MalformedMessage('the envelope holds no text')
  return parse(outer['oslo.message'])
}

export interface RpcRequest {
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
  readonly version: string
  readonly namespace: string | null
  readonly context: Readonly<Record<string, unknown>>
  /** where the answer goes; null: a cast */
  readonly reply: { readonly messageId: string; readonly queue: string; readonly monitorSeconds: number | null } | null
  readonly uniqueId: string | null
}

const contextPrefix = '_context_'

/** The message of a call (with `reply`) or a cast. */
export function encodeRequest(request: Omit<RpcRequest, 'uniqueId' | 'namespace'>): Message {
  const context = Object.entries(request.context).map(([key, value]) => [contextPrefix + key, value] as const)
  return {
    method: request.method,
    args: request.args,
    version: request.version,
    ...(request.reply !== null && {
      _msg_id: request.reply.messageId,
      _reply_q: request.reply.queue,
      _timeout: request.reply.monitorSeconds,
    }),
    _unique_id: newId(),
    ...Object.fromEntries(context),
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** @throws MalformedMessage when it names no method */
export function decodeRequest(message: Message): RpcRequest {
  const { method, args = {}, version, namespace, _msg_id, _reply_q, _timeout, _unique_id } = message
  if (typeof method !== 'string') throw new MalformedMessage('the message names no method')
  const context = Object.entries(message)
    .filter(([key]) => key.startsWith(contextPrefix))
    .map(([key, value]) => [key.slice(contextPrefix.length), value] as const)
  const monitor = typeof _timeout === 'number' && Number.isInteger(_timeout) && _timeout >= 2 ? _timeout : null
  return {
    method,
    args: isObject(args) ? args : {},
    version: textOrNull(version) ?? '1.0',
    namespace: textOrNull(namespace),
    context: Object.fromEntries(context),
    reply:
      typeof _msg_id === 'string' && typeof _reply_q === 'string'
        ? { messageId: _msg_id, queue: _reply_q, monitorSeconds: monitor }
        : null,
    uniqueId: textOrNull(_unique_id),
  }
}

/** An exception on its way to the caller. */
export interface RemoteFailure {
  readonly class: string
  readonly module: string
  readonly message: string
  readonly code: number | null
}

export interface RpcReply {
  readonly messageId: string
  readonly result: unknown
  readonly failure: RemoteFailure | null
  /** false: the method still runs, or (the old form) the end comes as a message of its own */
  readonly ending: boolean
}

/** No trace is sent: it would reach the user of the API. */
function encodeFailure({ class: name, module, message, code }: RemoteFailure): string {
  return JSON.stringify({
    class: name,
    module,
    message,
    tb: [],
    args: [message],
    kwargs: code === null ? {} : { code },
  })
}

export const encodeReply = (reply: RpcReply): Message => ({
  result: reply.result ?? null,
  failure: reply.failure === null ? null : encodeFailure(reply.failure),
  ending: reply.ending,
  _msg_id: reply.messageId,
  _unique_id: newId(),
})

const traceMarker = 'Traceback (most recent call last):'

/** A number, or one that was encoded once more. */
function codeOf(kwargs: unknown): number | null {
  const code: unknown = isObject(kwargs) ? kwargs['code'] : null
  const number = typeof code === 'string' ? Number(code) : code
  return typeof number === 'number' && Number.isInteger(number) ? number : null
}

function decodeFailure(failure: unknown): RemoteFailure {
  const { class: name, module, message, kwargs } = parse(String(failure))
  const text = textOrNull(message) ?? ''
  return {
    class: textOrNull(name) ?? 'Exception',
    module: textOrNull(module) ?? '',
    message: text.split(traceMarker)[0]?.trimEnd() ?? text,
    code: codeOf(kwargs),
  }
}

/** @throws MalformedMessage */
export function decodeReply(message: Message): RpcReply {
  const { result = null, failure = null, ending = false, _msg_id } = message
  if (typeof _msg_id !== 'string') throw new MalformedMessage('the reply names no call')
  return {
    messageId: _msg_id,
    result,
    failure: failure === null ? null : decodeFailure(failure),
    ending: Boolean(ending),
  }
}
