/** A command as the agent reports it. */
export interface AgentCommand {
  readonly id?: string
  readonly command_name: string
  readonly command_status: string
  readonly command_error?: AgentCommandError | string | null
  // oxlint-disable-next-line typescript/no-explicit-any -- each command has its own result
  readonly command_result?: any
  /** in place of a result, from agents that refuse the command */
  readonly faultstring?: string
}

export interface AgentCommandError {
  readonly type?: string
  readonly code?: number
  readonly message?: string
  readonly details?: string
}

/** What went wrong, in the agent's words. */
export function commandError(command: Partial<AgentCommand>): string {
  const error = command.command_error
  if (error === null || error === undefined) return 'Invalid agent response'
  if (typeof error === 'string') return error
  return error.details || error.message || JSON.stringify(error)
}

/** The name that the agent lists a command by: without its extension (`standby.sync` is `sync`). */
export const listedName = (method: string): string => method.slice(method.indexOf('.') + 1)
