import type { AgentClient, AgentPhase } from '../../agent/client.ts'
import { type AgentCommand, commandError } from '../../agent/commands.ts'
import type { Step, StepResult } from '../../domain/steps.ts'
import { IronicError } from '../../errors/define.ts'
import type { Task } from '../task.ts'
import { dropInternal, internal, setInternal } from './internal-info.ts'
import { currentStep, phases, stepName } from './phases.ts'
import { postStepHooks } from './post-step-hooks.ts'
import { rebootToFinishStep } from './ramdisk-boot.ts'
import { collectRamdiskLogs } from './ramdisk-logs.ts'
import { refreshSteps } from './step-cache.ts'

/** Hands a step to the agent; its end is seen at a later heartbeat. */
export async function executeAgentStep(
  client: AgentClient,
  task: Task,
  phase: AgentPhase,
  step: Partial<Step>,
): Promise<StepResult> {
  const { node } = task
  const result = await client.executeStep(phase, step, node, await task.ports(), task.signal)
  if (!result.command_status) {
    throw phases[phase].failure(node, `the agent's answer to step ${stepName(step)} has no command_status`)
  }
  return 'wait'
}

/** Has the agent done nothing yet but list its steps? Then it has just booted. */
const freshlyBooted = (commands: readonly AgentCommand[], phase: AgentPhase) =>
  commands.every((command) => command.command_name === `get_${phase}_steps`)

/** The command of the running step when it has ended; undefined while it runs or has not begun. */
function endedCommand(
  commands: readonly AgentCommand[],
  phase: AgentPhase,
  step: Readonly<Record<string, unknown>>,
): AgentCommand | undefined {
  const last = commands.at(-1)!
  // another command: an out-of-band step runs, or ours has not reached the agent
  if (last.command_name !== `execute_${phase}_step` || last.command_status === 'RUNNING') return undefined
  if (last.command_status === 'SUCCEEDED') {
    const done = (last.command_result as Record<string, Partial<Step>> | null | undefined)?.[`${phase}_step`]
    // the step before this one
    if (done?.interface !== step['interface'] || done?.step !== step['step']) return undefined
  }
  return last
}

/**
 * At a heartbeat: looks whether the running step has ended, and goes on, fails, reboots or starts over accordingly.
 * The agent compares the versions of its hardware managers before each step; when they changed it answers
 * VERSION_MISMATCH, because the order of steps may be another one now.
 */
export async function continueSteps(client: AgentClient, task: Task, phase: AgentPhase): Promise<void> {
  const { node } = task
  const commands = await client.commandsStatus(node, { signal: task.signal })
  if (freshlyBooted(commands, phase)) {
    dropInternal(node, phases[phase].rebootFlag)
    await task.save()
    await task.resumeFlow()
    return
  }
  const step = currentStep(node, phase)
  const command = endedCommand(commands, phase, step)
  if (command === undefined) return
  switch (command.command_status) {
    case 'SUCCEEDED':
      await stepSucceeded(client, task, phase, command)
      return
    case 'FAILED':
      await failStep(
        client,
        task,
        phase,
        `${capitalized(phase)} step ${stepName(step)} failed on node ${node.uuid}. ${commandError(command)}`,
      )
      return
    case 'VERSION_MISMATCH':
    case 'CLEAN_VERSION_MISMATCH':
      await versionMismatch(client, task, phase)
      return
    default:
      await failStep(
        client,
        task,
        phase,
        `The agent on node ${node.uuid} gave an unknown state for ${phase} step ${stepName(step)}: ${command.command_status}.`,
      )
  }
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

async function stepSucceeded(client: AgentClient, task: Task, phase: AgentPhase, command: AgentCommand): Promise<void> {
  const { node } = task
  const step = currentStep(node, phase)
  const hook = postStepHooks[`${phase}:${stepName(step)}`]
  if (hook !== undefined) {
    try {
      await hook(task, phase, command)
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      await failStep(
        client,
        task,
        phase,
        `The result of ${phase} step ${stepName(step)} on node ${node.uuid} could not be taken over: ${error.message}`,
        error,
      )
      return
    }
  }
  // only the agent's own list of steps carries the flag: a step that the user named does not reboot, as with real Ironic
  if (step['reboot_requested'] === true) {
    await rebootAfterStep(task, phase)
    return
  }
  await task.resumeFlow()
}

async function rebootAfterStep(task: Task, phase: AgentPhase): Promise<void> {
  const { node } = task
  try {
    // before the reboot, so that a restart of this service finds that the reboot was its own doing
    setInternal(node, { [phases[phase].rebootFlag]: true })
    dropInternal(node, phases[phase].pollingFlag)
    if (internal(node, 'agent_secret_token_pregenerated') !== true) dropInternal(node, 'agent_secret_token')
    await task.save()
    await rebootToFinishStep(task)
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    dropInternal(node, phases[phase].rebootFlag)
    const step = stepName(currentStep(node, phase))
    await task.failFlow({
      message: `The reboot that ${phase} step ${step} of node ${node.uuid} asked for failed: ${error.message}`,
      cause: error,
    })
  }
}

async function failStep(
  client: AgentClient,
  task: Task,
  phase: AgentPhase,
  message: string,
  cause?: unknown,
): Promise<void> {
  await collectRamdiskLogs(client, task, phase === 'clean' ? 'cleaning' : undefined)
  await task.failFlow({ message, cause })
}

async function versionMismatch(client: AgentClient, task: Task, phase: AgentPhase): Promise<void> {
  const { node } = task
  try {
    if ((await refreshSteps(client, task, phase)) === 'busy') return
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    await task.failFlow({
      message: `The hardware managers of the agent on node ${node.uuid} changed, and its ${phase} steps could not be read again: ${error.message}`,
      cause: error,
    })
    return
  }
  if (phase === 'clean' && node.target_provision_state !== 'manageable') {
    task.log.info(`The hardware managers of the agent on node ${node.uuid} changed: cleaning begins anew`)
    node.clean_step = {}
    setInternal(node, { clean_steps: null })
    dropInternal(node, 'clean_step_index')
  } else {
    // the operator chose these steps, and they need not bear being repeated: go on with the one that did not run
    task.log.info(`The hardware managers of the agent on node ${node.uuid} changed: ${phase} goes on with its step`)
    setInternal(node, { [phases[phase].skipFlag]: false })
  }
  await task.save()
  await task.resumeFlow()
}
