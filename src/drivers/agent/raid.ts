import { AgentClient } from '../../agent/client.ts'
import { booleanOr } from '../../domain/booleans.ts'
import { wantedRaidConfig } from '../../domain/raid-target.ts'
import type { Step, StepPhase, StepResult } from '../../domain/steps.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { RaidInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { setInternal } from './internal-info.ts'
import { currentStep } from './phases.ts'
import { cachedSteps } from './step-cache.ts'
import { executeAgentStep } from './step-progress.ts'

const applyArguments = {
  raid_config: { description: 'The RAID configuration to apply.', required: true },
  delete_existing: {
    description: 'Whether the RAID configuration that exists is deleted first. True when it is left out.',
    required: false,
  },
}

/** RAID made by the agent, software or by what its hardware managers know. */
export class AgentRaid extends RaidInterface {
  readonly name: string = 'agent'
  protected readonly client: AgentClient

  constructor(parts: DriverParts) {
    super(parts)
    this.client = parts.shared.of(AgentClient, parts)
  }

  override steps(): readonly StepSpec[] {
    const apply = (phase: 'deploy' | 'service'): StepSpec => ({
      phase,
      step: 'apply_configuration',
      priority: 0,
      args: applyArguments,
      run: async (task, args) => {
        await this.validateRaidConfig(task, args['raid_config'] ?? {})
        return await this.onAgent(phase, task)
      },
    })
    return [
      apply('deploy'),
      apply('service'),
      {
        phase: 'clean',
        step: 'create_configuration',
        priority: 0,
        run: (task, args) => this.createConfiguration(task, args),
      },
      { phase: 'clean', step: 'delete_configuration', priority: 0, run: (task) => this.onAgent('clean', task) },
    ]
  }

  /** What the agent offers; before it has booted, cleaning and deploying have no RAID steps. */
  override async getSteps(phase: StepPhase, task: Task): Promise<Step[]> {
    const { delete_configuration_priority, create_configuration_priority } = this.parts.config.deploy
    if (phase === 'clean') {
      return cachedSteps(task.node, 'clean', 'raid', {
        delete_configuration: delete_configuration_priority,
        create_configuration: create_configuration_priority,
      })
    }
    if (phase === 'deploy') return cachedSteps(task.node, 'deploy', 'raid')
    return await super.getSteps(phase, task)
  }

  protected async createConfiguration(task: Task, args: Record<string, unknown>): Promise<StepResult> {
    const root = booleanOr(args['create_root_volume'], true)
    const nonRoot = booleanOr(args['create_nonroot_volumes'], true)
    // the agent makes what it finds there
    setInternal(task.node, { target_raid_config: wantedRaidConfig(task.node, { root, nonRoot }) })
    await task.save()
    return await this.onAgent('clean', task)
  }

  protected async onAgent(phase: 'clean' | 'deploy' | 'service', task: Task): Promise<StepResult> {
    return await executeAgentStep(this.client, task, phase, currentStep(task.node, phase))
  }

  override async executeStep(phase: StepPhase, task: Task, step: Step): Promise<StepResult> {
    const own = this.steps().some((spec) => spec.phase === phase && spec.step === step.step)
    if (own || phase === 'verify') return await super.executeStep(phase, task, step)
    return await executeAgentStep(this.client, task, phase, step)
  }
}
