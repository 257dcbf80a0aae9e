import { randomUUID } from 'node:crypto'
import { AgentError, asAgentError } from './errors.ts'

/** A command as the agent's API shows it. */
export interface Command {
  readonly id: string
  readonly command_name: string
  command_status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CLEAN_VERSION_MISMATCH'
  command_error: Record<string, unknown> | null
  command_result: unknown
}

export type Parameters = Readonly<Record<string, unknown>>

/** What a command does. A `background` command answers RUNNING at once, the others answer when they are done. */
export interface CommandHandler {
  readonly background: boolean
  /** refuses what can be refused at once; its error is the answer to the request (InvalidContentError) or a failed command */
  readonly check?: (params: Parameters) => void
  readonly run: (params: Parameters) => Promise<unknown>
}

/** By `extension.command`. */
export type CommandTable = ReadonlyMap<string, CommandHandler>

/** The commands of one run of the agent: one at a time, results kept in order. */
export class CommandRunner {
  readonly #table: CommandTable
  readonly #ended: () => void
  readonly #commands = new Map<string, Command>()
  readonly #running = new Map<string, Promise<void>>()

  /** @param ended called when a background command has ended (the agent then heartbeats soon) */
  constructor(table: CommandTable, ended: () => void) {
    this.#table = table
    this.#ended = ended
  }

  list(): readonly Command[] {
    return [...this.#commands.values()]
  }

  get(id: string): Command | undefined {
    return this.#commands.get(id)
  }

  /** Resolves when the command has ended. */
  async wait(id: string): Promise<void> {
    await this.#running.get(id)
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /**
   * Starts a command.
   * @throws AgentError when the agent is busy (409), there is no such extension (404) or the content is invalid (400)
   */
  async start(name: string, params: Parameters): Promise<Command> {
    const at = name.indexOf('.')
    if (at === -1) throw new AgentError('InvalidCommandError', 'Command name must be of the form <extension>.<name>')
    const busy = [...this.#commands.values()].at(-1)
    if (busy?.command_status === 'RUNNING')
      throw new AgentError('AgentIsBusy', `executing command ${busy.command_name}`)
    const [extension, short] = [name.slice(0, at), name.slice(at + 1)]
    if (![...this.#table.keys()].some((known) => known.startsWith(`${extension}.`))) {
      throw new AgentError('RequestedObjectNotFoundError', `Extension with id ${extension} not found.`)
    }
    const handler = this.#table.get(name)
    if (handler === undefined) throw new AgentError('InvalidCommandError', `Unknown command: ${short}`)
    const command: Command = {
      id: randomUUID(),
      command_name: short,
      command_status: 'RUNNING',
      command_error: null,
      command_result: null,
    }
    handler.check?.(params)
    this.#commands.set(command.id, command)
    const work = this.#run(handler, command, params)
    this.#running.set(command.id, work)
    void work.finally(() => this.#running.delete(command.id))
    if (!handler.background) await work
    return command
  }

  async #run(handler: CommandHandler, command: Command, params: Parameters): Promise<void> {
    try {
      const result = (await handler.run(params)) ?? null
      const text = handler.background ? `${command.command_name}: ${String(result)}` : result
      command.command_result = typeof result === 'string' ? { result: text } : result
      command.command_status = 'SUCCEEDED'
    } catch (error) {
      const shown = asAgentError(error)
      command.command_error = shown.shown()
      command.command_status = shown.type === 'VersionMismatch' ? 'CLEAN_VERSION_MISMATCH' : 'FAILED'
    }
    if (handler.background) this.#ended()
  }
}
