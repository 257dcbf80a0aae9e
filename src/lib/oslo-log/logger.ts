/** What a line may carry besides its text. Values under secret-looking keys are masked before anything is written. */
export interface LogDetail {
  readonly error?: unknown
  readonly [key: string]: unknown
}

/** The request that a line belongs to. */
export interface LogRequest {
  readonly request_id?: string
  readonly global_request_id?: string | null
  readonly user_id?: string | null
  readonly project_id?: string | null
  readonly domain_id?: string | null
  readonly system_scope?: string | null
  readonly user_domain_id?: string | null
  readonly project_domain_id?: string | null
}

/** Levels as oslo.log names them. */
export interface Logger {
  debug(message: string, detail?: LogDetail): void
  info(message: string, detail?: LogDetail): void
  warning(message: string, detail?: LogDetail): void
  error(message: string, detail?: LogDetail): void
  critical(message: string, detail?: LogDetail): void
  /** A logger whose lines bear that name (`ironic.conductor`) and, when given, the request they belong to. */
  named(name: string, request?: LogRequest): Logger
}

const nothing = () => {}
/** Swallows everything: for tests and for tools that print themselves. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warning: nothing,
  error: nothing,
  critical: nothing,
  named: () => silentLogger,
}
