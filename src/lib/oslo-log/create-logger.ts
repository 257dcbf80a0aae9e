import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { type Destination, fileDestination, type Rotation, streamDestination } from './destination.ts'
import { fieldsOf, type LineFields, lineFormat } from './line-format.ts'
import type { LogDetail, Logger, LogRequest } from './logger.ts'
import { maskDetail, maskSentence } from './secrets.ts'
import { strftime } from './strftime.ts'

/** The options of oslo.log that are acted on, as they stand in the group DEFAULT. `debug` is looked at for every line. */
export interface LogSettings {
  readonly debug: boolean
  readonly use_json: boolean
  readonly use_stderr: boolean
  readonly log_file: string | null
  readonly log_dir: string | null
  readonly log_date_format: string
  readonly log_rotation_type: string
  readonly log_rotate_interval: number
  readonly log_rotate_interval_type: string
  readonly max_logfile_count: number
  readonly max_logfile_size_mb: number
  readonly logging_context_format_string: string
  readonly logging_default_format_string: string
  readonly logging_debug_format_suffix: string
  readonly logging_exception_prefix: string
  readonly logging_user_identity_format: string
  readonly instance_uuid_format: string
  readonly default_log_levels: readonly string[]
}

export interface LoggerParts {
  /** the program's name: names the file when only `log_dir` is set */
  readonly program: string
  /** instead of what the settings say; for tests */
  readonly destinations?: readonly Destination[]
  readonly now?: () => Date
}

/** A logger and the right to end it. */
export interface RootLogger extends Logger {
  /** resolves when all lines so far are written */
  flush(): Promise<void>
  flushSync(): void
  close(): Promise<void>
}

const levels = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 } as const
type Level = keyof typeof levels
const levelAliases: Readonly<Record<string, Level>> = {
  WARN: 'WARNING',
  FATAL: 'CRITICAL',
  TRACE: 'DEBUG',
  NOTSET: 'DEBUG',
}

interface Record_ {
  readonly level: Level
  readonly name: string
  readonly message: string
  readonly detail: LogDetail
  readonly request: LogRequest
  readonly time: Date
  readonly caller: Caller | undefined
}

/**
 * A logger that writes as oslo.log does: the same line format, levels by name, JSON on request, to standard output unless a
 * file or standard error is chosen. Secrets never get through, and no call waits for the writing.
 *
 * @throws when the log file cannot be opened
 */
export function createLogger(settings: LogSettings, parts: LoggerParts): RootLogger {
  const destinations = parts.destinations ?? destinationsOf(settings, parts.program)
  const render = settings.use_json ? jsonRenderer(settings) : lineRenderer(settings)
  const thresholds = levelsByName(settings.default_log_levels)
  const now = parts.now ?? (() => new Date())
  const wantsCaller = settings.use_json || needsCaller(settings)

  const emit = (
    level: Level,
    name: string,
    threshold: number | undefined,
    request: LogRequest,
    message: string,
    detail: LogDetail,
  ) => {
    const least = threshold ?? (settings.debug ? levels.DEBUG : levels.INFO)
    if (levels[level] < least) return
    const caller = wantsCaller && level === 'DEBUG' ? callerOf() : undefined
    const text = render({ level, name, message, detail, request, time: now(), caller })
    for (const destination of destinations) destination.write(text)
  }

  const named = (name: string, request: LogRequest = {}): Logger => {
    const threshold = thresholdOf(name, thresholds)
    const at =
      (level: Level) =>
      (message: string, detail: LogDetail = {}) =>
        emit(level, name, threshold, request, message, detail)
    return {
      debug: at('DEBUG'),
      info: at('INFO'),
      warning: at('WARNING'),
      error: at('ERROR'),
      critical: at('CRITICAL'),
      named: (other, itsRequest = request) => named(other, itsRequest),
    }
  }

  return {
    ...named('ironic'),
    flush: async () => void (await Promise.all(destinations.map((destination) => destination.flush()))),
    flushSync: () => destinations.forEach((destination) => destination.flushSync()),
    close: async () => void (await Promise.all(destinations.map((destination) => destination.close()))),
  }
}

function destinationsOf(settings: LogSettings, program: string): Destination[] {
  const path = logPath(settings, program)
  const chosen = [
    ...(path === undefined ? [] : [fileDestination(path, rotationOf(settings))]),
    ...(settings.use_stderr ? [streamDestination(2)] : []),
  ]
  return chosen.length > 0 ? chosen : [streamDestination(1)]
}

/** `log_file` under `log_dir`, or `<log_dir>/<program>.log`. */
function logPath({ log_file, log_dir }: LogSettings, program: string): string | undefined {
  if (log_file !== null && log_file !== '')
    return log_dir === null || log_dir === '' ? log_file : join(log_dir, log_file)
  return log_dir === null || log_dir === '' ? undefined : join(log_dir, `${program}.log`)
}

const minute = 60_000
const intervals: Readonly<Record<string, number>> = {
  seconds: 1000,
  minutes: minute,
  hours: 60 * minute,
  days: 24 * 60 * minute,
  weekday: 7 * 24 * 60 * minute,
  midnight: 24 * 60 * minute,
}

function rotationOf(settings: LogSettings): Rotation | undefined {
  const keep = settings.max_logfile_count
  switch (settings.log_rotation_type.toLowerCase()) {
    case 'size':
      return { maxBytes: settings.max_logfile_size_mb * 1024 * 1024, keep }
    case 'interval': {
      const kind = settings.log_rotate_interval_type.toLowerCase()
      const times = kind === 'weekday' || kind === 'midnight' ? 1 : settings.log_rotate_interval
      return { everyMs: intervals[kind]! * times, keep }
    }
    default:
      return undefined
  }
}

function levelsByName(settings: readonly string[]): Map<string, number> {
  return new Map(
    settings.flatMap((setting) => {
      const [name = '', word = ''] = setting.split('=')
      const level = levelAliases[word.toUpperCase()] ?? word.toUpperCase()
      return level in levels ? [[name, levels[level as Level]] as const] : []
    }),
  )
}

/** The level of the longest name that is this one or a parent of it; undefined leaves it to `debug`. */
function thresholdOf(name: string, thresholds: ReadonlyMap<string, number>): number | undefined {
  for (let known = name; known !== ''; known = known.slice(0, Math.max(0, known.lastIndexOf('.')))) {
    const level = thresholds.get(known)
    if (level !== undefined) return level
  }
  return undefined
}

interface Caller {
  readonly funcName: string
  readonly pathname: string
  readonly lineno: number
}

const needsCaller = (settings: LogSettings) =>
  ['funcName', 'pathname', 'lineno', 'filename', 'module'].some((field) =>
    fieldsOf(settings.logging_debug_format_suffix).has(field),
  )

function callerOf(): Caller {
  // The frames of this file come first.
  const frame = (new Error().stack ?? '')
    .split('\n')
    .slice(1)
    .find((line) => !line.includes(import.meta.filename))
  const match = /at (?:async )?(?:(.+?) \()?(?:file:\/\/)?([^():]+):(\d+):\d+\)?$/.exec(frame ?? '')
  return { funcName: match?.[1] ?? '<module>', pathname: match?.[2] ?? '-', lineno: Number(match?.[3] ?? 0) }
}

/** `NodeLocked: Node 1 is locked …` */
function errorSummary(error: unknown): string {
  if (error === undefined || error === null) return ''
  return maskSentence(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
}

/** The stack of an error and of what caused it. */
function stackLines(error: unknown): string[] {
  const lines: string[] = []
  for (let current = error; current instanceof Error && lines.length < 200; current = current.cause) {
    if (lines.length > 0) lines.push('caused by:')
    lines.push(...maskSentence(current.stack ?? `${current.name}: ${current.message}`).split('\n'))
  }
  return lines
}

/** Details of a line as ` (key=value, …)`. */
function detailText(detail: LogDetail): string {
  const parts = Object.entries(detail).flatMap(([key, value]) => {
    if (key === 'error' || key === 'instance_uuid' || value === undefined) return []
    const masked = maskDetail(key, value)
    return [`${key}=${typeof masked === 'string' ? masked : JSON.stringify(masked)}`]
  })
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function timeFields(settings: LogSettings, time: Date) {
  return {
    asctime: strftime(settings.log_date_format, time),
    msecs: time.getMilliseconds(),
    isotime: time.toISOString(),
    created: time.getTime() / 1000,
  }
}

function lineRenderer(settings: LogSettings): (record: Record_) => string {
  const withRequest = lineFormat(settings.logging_context_format_string)
  const withoutRequest = lineFormat(settings.logging_default_format_string)
  const withSummary = {
    request: settings.logging_context_format_string.includes('%(error_summary)s'),
    plain: settings.logging_default_format_string.includes('%(error_summary)s'),
  }
  const suffix =
    settings.logging_debug_format_suffix === '' ? undefined : lineFormat(` ${settings.logging_debug_format_suffix}`)
  const prefix = lineFormat(settings.logging_exception_prefix)
  const identity = lineFormat(settings.logging_user_identity_format)
  const instance = lineFormat(settings.instance_uuid_format)

  return ({ level, name, message, detail, request, time, caller }) => {
    const fields: LineFields = {
      ...request,
      ...timeFields(settings, time),
      process: process.pid,
      levelname: level,
      levelno: levels[level],
      name,
      instance: detail['instance_uuid'] === undefined ? '' : instance({ uuid: detail['instance_uuid'] }),
      global_request_id: request.global_request_id ?? null,
      user_identity: identity(identityOf(request)),
      message: maskSentence(message) + detailText(detail),
      error_summary: levels[level] < levels.WARNING ? '' : errorSummary(detail.error) || '-',
      ...caller,
    }
    const isRequest = request.request_id !== undefined
    let line = (isRequest ? withRequest : withoutRequest)(fields)
    const summary = errorSummary(detail.error)
    if (summary !== '' && !(isRequest ? withSummary.request : withSummary.plain)) line += `: ${summary}`
    if (level === 'DEBUG' && suffix !== undefined) line += suffix(fields)
    if (detail.error instanceof Error && (levels[level] >= levels.ERROR || level === 'DEBUG')) {
      line += stackLines(detail.error)
        .map((text) => `\n${prefix(fields)}${text}`)
        .join('')
    }
    return `${line}\n`
  }
}

/** A missing part of the identity shows as `-`. */
function identityOf(request: LogRequest): LineFields {
  const shown = (value: string | null | undefined) =>
    value === undefined || value === null || value === '' ? '-' : value
  return {
    user: shown(request.user_id),
    project: shown(request.project_id),
    domain: shown(request.domain_id),
    system_scope: shown(request.system_scope),
    user_domain: shown(request.user_domain_id),
    project_domain: shown(request.project_domain_id),
  }
}

/** The members that oslo.log's JSON lines have. */
function jsonRenderer(settings: LogSettings): (record: Record_) => string {
  const host = hostname()
  return ({ level, name, message, detail, request, time, caller }) => {
    const text = maskSentence(message)
    const { error, ...extra } = detail
    const pathname = caller?.pathname ?? ''
    const line = {
      message: text,
      asctime: strftime(settings.log_date_format, time),
      name,
      msg: text,
      args: [],
      levelname: level,
      levelno: levels[level],
      pathname,
      filename: basename(pathname),
      module: basename(pathname).replace(/\.[jt]s$/, ''),
      lineno: caller?.lineno ?? 0,
      funcname: caller?.funcName ?? '',
      created: time.getTime() / 1000,
      msecs: time.getMilliseconds(),
      relative_created: performance.now(),
      thread: 0,
      thread_name: 'main',
      process_name: 'MainProcess',
      process: process.pid,
      traceback: error instanceof Error ? stackLines(error).join('\n') : null,
      hostname: host,
      error_summary: levels[level] < levels.WARNING ? '' : errorSummary(error),
      context: request.request_id === undefined ? {} : request,
      extra: maskDetail('', extra),
    }
    return `${JSON.stringify(line)}\n`
  }
}
