/** What the agent of a machine does instead of its duty; changed by tests while it runs. */
export interface AgentFaults {
  /** serves plain HTTP and says so in its heartbeats */
  plainHttp?: boolean
  /** heartbeats with a token that is not its own */
  wrongToken?: boolean
  /** no heartbeats at all, and nothing handed over after inspection */
  mute?: boolean
  /** a certificate that is not the one it serves with */
  foreignCertificate?: boolean
  /** requests to the agent that go wrong: the first that fits and is not used up */
  commands?: CommandFault[]
}

export interface CommandFault {
  /** `POST` or `GET`; both when left out */
  readonly method?: string
  /** matched against `extension.command`; every request when left out */
  readonly command?: RegExp
  /** how many requests fail; all when left out. Counts down */
  times?: number
  readonly answer: 'hang' | 'reset' | { readonly status: number; readonly body: unknown }
}

/** The fault that acts on a request, counted down. */
export function takeFault(faults: AgentFaults, method: string, command: string | null): CommandFault | undefined {
  const fault = faults.commands?.find(
    (candidate) =>
      (candidate.method === undefined || candidate.method === method) &&
      (candidate.command === undefined || (command !== null && candidate.command.test(command))) &&
      candidate.times !== 0,
  )
  if (fault?.times !== undefined) fault.times--
  return fault
}
