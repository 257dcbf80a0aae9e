/**
 * What can go wrong in talking to a BMC. Each kind is told apart by its class, since callers decide by kind: an answer may be
 * retried on another slot, a lost connection later, a missing property never.
 */

/** A member of `@Message.ExtendedInfo` (DSP0266 "Error responses"). */
export interface ExtendedInfo {
  readonly MessageId?: string
  readonly Message?: string
  readonly Severity?: string
  readonly MessageArgs?: readonly unknown[]
  readonly RelatedProperties?: readonly string[]
  readonly Resolution?: string
}

/** The root of all problems with a BMC. */
export class RedfishProblem extends Error {
  override readonly name: string = 'RedfishProblem'
}

export type ConnectionFault = 'tls' | 'connect' | 'timeout' | 'closed' | 'answer'

/** No usable answer came: the connection failed, timed out, broke, or carried something that is not HTTP or JSON. */
export class BmcUnreachable extends RedfishProblem {
  override readonly name = 'BmcUnreachable'
  readonly url: string
  readonly fault: ConnectionFault
  constructor(url: string, fault: ConnectionFault, reason: string, cause?: unknown) {
    super(`Unable to reach ${url}: ${reason}`, { cause })
    this.url = url
    this.fault = fault
  }
}

/** The BMC answered with a status of 400 or more. */
export class BmcRefused extends RedfishProblem {
  override readonly name: string = 'BmcRefused'
  readonly method: string
  readonly url: string
  readonly status: number
  /** `error.code`, a message id such as `Base.1.8.ActionParameterMissing` */
  readonly code: string
  /** what the BMC says, most severe message first */
  readonly detail: string | null
  readonly extendedInfo: readonly ExtendedInfo[]
  readonly retryAfterMs: number | null

  constructor(
    method: string,
    url: string,
    status: number,
    body: unknown,
    extras: {
      readonly retryAfterMs?: number | null
      readonly note?: string
      readonly messages?: readonly string[]
    } = {},
  ) {
    const error = errorOf(body)
    const said = [...new Set([error.detail, ...(extras.messages ?? [])].filter((text) => text !== null && text !== ''))]
    const ids = [...new Set(error.info.map((entry) => entry.MessageId).filter((id) => id !== undefined))]
    super(
      `${method} ${url} returned ${status}` +
        (error.code === null && said.length === 0
          ? ''
          : ` (${[error.code, ...ids.filter((id) => id !== error.code)].filter((part) => part !== null).join(', ')})`) +
        (said.length === 0 ? '' : `: ${said.join(' ')}`) +
        (extras.note === undefined ? '' : ` ${extras.note}`),
    )
    this.method = method
    this.url = url
    this.status = status
    this.code = error.code ?? 'Base.1.0.GeneralError'
    this.detail = error.detail
    this.extendedInfo = error.info
    this.retryAfterMs = extras.retryAfterMs ?? null
  }

  /** Does the answer carry that message, whatever the registry and its version (`Base.1.12.` + name)? */
  says(messageName: string): boolean {
    return this.code.includes(messageName) || this.extendedInfo.some((entry) => entry.MessageId?.includes(messageName))
  }

  /** Everything that the BMC said, in one text, for looking a word up in it. */
  get words(): string {
    return [
      this.code,
      this.detail,
      ...this.extendedInfo.flatMap((entry) => [
        entry.MessageId,
        entry.Message,
        ...(entry.MessageArgs ?? []),
        ...(entry.RelatedProperties ?? []),
      ]),
    ].join(' ')
  }

  get isServerSide(): boolean {
    return this.status >= 500
  }
}

/** 401 or 403: the credentials, or the rights behind them. */
export class AccessRefused extends BmcRefused {
  override readonly name = 'AccessRefused'
}

/** 404. */
export class ResourceMissing extends BmcRefused {
  override readonly name = 'ResourceMissing'
}

/** A resource lacks a property, link or action that the work needs. */
export class PropertyMissing extends RedfishProblem {
  override readonly name: string = 'PropertyMissing'
  readonly property: string
  readonly resource: string
  constructor(property: string, resource: string) {
    super(`The property ${property} is missing or unusable in the resource ${resource}`)
    this.property = property
    this.resource = resource
  }
}

export class ActionMissing extends PropertyMissing {
  override readonly name = 'ActionMissing'
}

/** The BMC says which values it takes, and this is none of them. */
export class ValueNotAllowed extends RedfishProblem {
  override readonly name = 'ValueNotAllowed'
  constructor(parameter: string, value: string, resource: string, allowed: readonly string[]) {
    super(`${resource} does not take ${value} for ${parameter}; it takes ${allowed.join(', ')}`)
  }
}

/** The BMC has several systems and none was named, or none at all. */
export class NoSingleSystem extends RedfishProblem {
  override readonly name = 'NoSingleSystem'
}

/** A task of the BMC ended badly, vanished, or did not end in time. */
export class TaskProblem extends RedfishProblem {
  override readonly name = 'TaskProblem'
}

/** The error for a status of 400 and above. */
export function refusal(
  method: string,
  url: string,
  status: number,
  body: unknown,
  extras: ConstructorParameters<typeof BmcRefused>[4] = {},
): BmcRefused {
  const Kind = status === 401 || status === 403 ? AccessRefused : status === 404 ? ResourceMissing : BmcRefused
  return new Kind(method, url, status, body, extras)
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
/** A BMC's prose in our sentence: one line, bounded. */
const tidy = (value: string): string =>
  value
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 1024)

function errorOf(body: unknown): { code: string | null; detail: string | null; info: ExtendedInfo[] } {
  const error = record(record(body)?.['error'])
  if (error === null) return { code: null, detail: null, info: [] }
  const given = error['@Message.ExtendedInfo']
  const list = Array.isArray(given) ? given : given === undefined ? [] : [given]
  const info = list
    .map(record)
    .filter((entry) => entry !== null)
    .slice(0, 32)
    .map((entry): ExtendedInfo => ({
      ...(text(entry['MessageId']) !== undefined && { MessageId: tidy(text(entry['MessageId'])!) }),
      ...(text(entry['Message']) !== undefined && { Message: tidy(text(entry['Message'])!) }),
      ...(text(entry['Severity'] ?? entry['MessageSeverity']) !== undefined && {
        Severity: text(entry['Severity'] ?? entry['MessageSeverity'])!,
      }),
      ...(text(entry['Resolution']) !== undefined && { Resolution: tidy(text(entry['Resolution'])!) }),
      ...(Array.isArray(entry['MessageArgs']) && { MessageArgs: entry['MessageArgs'] }),
      ...(Array.isArray(entry['RelatedProperties']) && {
        RelatedProperties: entry['RelatedProperties'].filter((name) => typeof name === 'string'),
      }),
    }))
  const worst =
    info.find((entry) => entry.Severity === 'Critical') ?? info.find((entry) => entry.Severity === 'Warning') ?? info[0]
  const message = text(error['message'])
  return {
    code: text(error['code']) ?? null,
    detail: worst?.Message ?? (message === undefined ? null : tidy(message)),
    info,
  }
}
