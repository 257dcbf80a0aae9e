/** The errors that the agent tells (ironic-python-agent 13.0.0), with their first half of the sentence and HTTP status. */
const kinds = {
  InvalidCommandError: ['Invalid command', 400],
  InvalidCommandParamsError: ['Invalid command parameters', 400],
  RequestedObjectNotFoundError: ['Not found', 404],
  CommandExecutionError: ['Command execution failed', 500],
  AgentIsBusy: ['Agent is busy', 409],
  VersionMismatch: ['Hardware managers version mismatch, reload agent with correct version', 409],
  CleaningError: ['Clean step failed', 500],
  DeploymentError: ['Deploy step failed', 500],
  ServicingError: ['Service step failed', 500],
  HardwareManagerMethodNotFound: ['No HardwareManager found to handle method', 500],
  ImageDownloadError: ['Error downloading image', 500],
  ImageChecksumError: ['Error verifying image checksum', 500],
  ImageWriteError: ['Error writing image to device', 500],
  InvalidImage: ['Error validating image', 500],
  DeviceNotFound: ['Error finding the disk or partition device to deploy the image onto', 404],
  SoftwareRAIDError: ['Software RAID caused unknown error', 500],
} as const satisfies Record<string, readonly [string, number]>

export type AgentErrorType = keyof typeof kinds

/** An error as the agent's API shows it. */
export class AgentError extends Error {
  readonly type: AgentErrorType
  readonly code: number
  readonly summary: string
  readonly details: string

  constructor(type: AgentErrorType, details: string, options?: ErrorOptions) {
    const [summary, code] = kinds[type]
    super(`${summary}: ${details}`, options)
    this.type = type
    this.code = code
    this.summary = summary
    this.details = details
  }

  /** As `command_error` of a command. */
  shown(): Record<string, unknown> {
    return { type: this.type, code: this.code, message: this.summary, details: this.details }
  }
}

/** Any error as one of the agent's own. */
export function asAgentError(error: unknown): AgentError {
  if (error instanceof AgentError) return error
  return new AgentError('CommandExecutionError', error instanceof Error ? error.message : String(error), {
    cause: error,
  })
}
