/** What went wrong, by the name that oslo.config gives it. */
export type ConfigErrorKind =
  | 'ConfigDirNotFoundError'
  | 'ConfigFileParseError'
  | 'ConfigFileValueError'
  | 'ConfigFilesNotFoundError'
  | 'ConfigFilesPermissionDeniedError'
  | 'ConfigSourceValueError'
  | 'DefaultValueError'
  | 'DuplicateOptError'
  | 'KeyError'
  | 'NoSuchGroupError'
  | 'NoSuchOptError'
  | 'RecursionError'
  | 'RequiredOptError'
  | 'TemplateSubstitutionError'
  | 'TypeError'
  | 'UnicodeDecodeError'
  | 'ValueError'

/** A configuration that cannot be used. The message names the file, line, option and value where there are such. */
export class ConfigError extends Error {
  readonly kind: ConfigErrorKind

  constructor(kind: ConfigErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConfigError'
    this.kind = kind
  }
}

/** The kinds that mean "this value does not fit", as opposed to "there is no such thing". */
const valueKinds: readonly ConfigErrorKind[] = [
  'ValueError',
  'ConfigFileValueError',
  'ConfigSourceValueError',
  'UnicodeDecodeError',
]
export const isValueError = (error: unknown): error is ConfigError =>
  error instanceof ConfigError && valueKinds.includes(error.kind)
export const isKind = (error: unknown, kind: ConfigErrorKind): error is ConfigError =>
  error instanceof ConfigError && error.kind === kind

/** A value that the type of its option does not take; the message says what it takes. */
export const invalidValue = (message: string) => new ConfigError('ValueError', message)

/** The command line asked for nothing more than this text, or could not be understood. */
export class CommandLineExit extends Error {
  readonly status: number
  /** for standard output when the status is 0, else for standard error */
  readonly text: string

  constructor(status: number, text: string) {
    super(text)
    this.name = 'CommandLineExit'
    this.status = status
    this.text = text
  }
}
