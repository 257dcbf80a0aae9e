import type { Bmc } from './bmc.ts'
import { BmcRefused, PropertyMissing, ResourceMissing } from './problems.ts'
import { Task } from './resources.ts'
import { isObject, link, view } from './shape.ts'
import { sentenceFor } from './messages.ts'
import type { Answer } from './transport.ts'

/**
 * What a look at a task shows. `gone`: the BMC knows it no more, as after a restart of its own, so how it ended is not known.
 * `warned`: done, and the BMC says that something was not quite right.
 */
export type TaskOutcome = 'running' | 'done' | 'warned' | 'failed' | 'gone'

export interface TaskReport {
  readonly outcome: TaskOutcome
  /** `TaskState` as the BMC tells it; null when it tells none */
  readonly state: string | null
  readonly messages: readonly string[]
}

/** `TaskState` (schema Task). A state that is not known is one that goes on: time decides. */
const outcomes: Readonly<Record<string, 'running' | 'done' | 'failed'>> = {
  New: 'running',
  Starting: 'running',
  Running: 'running',
  Suspended: 'running',
  Interrupted: 'running',
  Pending: 'running',
  Stopping: 'running',
  Cancelling: 'running',
  Service: 'running',
  Completed: 'done',
  Killed: 'failed',
  Exception: 'failed',
  Cancelled: 'failed',
}

/** Where a task that an answer started is followed: the task itself where it is named, else its monitor. @throws PropertyMissing */
export function taskUri(answer: Answer, from: string): string {
  const uri = link(answer.body) ?? answer.headers['location']
  if (uri === undefined) throw new PropertyMissing('Location', from)
  return uri
}

/** Looks at a task or at its monitor (DSP0266 "Asynchronous operations"). @throws BmcUnreachable, BmcRefused of the server's side */
export async function lookAtTask(bmc: Bmc, uri: string): Promise<TaskReport> {
  let answer: Answer
  try {
    answer = await bmc.client.call('GET', uri, { signal: bmc.signal })
  } catch (error) {
    if (error instanceof ResourceMissing) return { outcome: 'gone', state: null, messages: [] }
    // a monitor gives the answer of what it watched, good or bad
    if (error instanceof BmcRefused && !error.isServerSide && error.status !== 401 && error.status !== 403)
      return { outcome: 'failed', state: null, messages: [error.message] }
    throw error
  }
  return reportOf(answer)
}

/** The same for an answer that is at hand. */
export function reportOf(answer: Answer): TaskReport {
  const task = isObject(answer.body) ? view(Task.shape, answer.body) : null
  const state = task?.TaskState ?? null
  const messages = (task?.Messages ?? []).map(({ Message, MessageId, MessageArgs }) => {
    const said =
      Message !== undefined && !['', 'unknown', 'unknown error'].includes(Message.toLowerCase()) ? Message : null
    return said ?? sentenceFor(MessageId, MessageArgs) ?? MessageId ?? ''
  })
  const told = messages.filter((message) => message !== '')
  if (state === null) return { outcome: answer.status === 202 ? 'running' : 'done', state, messages: told }
  const outcome = outcomes[state] ?? 'running'
  if (outcome !== 'done') return { outcome, state, messages: told }
  const health = task?.TaskStatus
  return { outcome: health === 'Critical' ? 'failed' : health === 'Warning' ? 'warned' : 'done', state, messages: told }
}
