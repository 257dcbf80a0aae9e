import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { StepSpec } from '../interfaces/base.ts'
import {
  BiosInterface,
  ConsoleInterface,
  DeployInterface,
  FirmwareInterface,
  InspectInterface,
  RaidInterface,
  RescueInterface,
  VendorInterface,
  type VendorMethod,
} from '../interfaces/driver.ts'
import type { Task } from '../task.ts'

/** The answer of the `no-*` interfaces: the node's hardware has nothing of the kind. */
const refuse = (task: Task, type: string): Promise<never> =>
  Promise.reject(new UnsupportedDriverExtension({ driver: task.node.driver ?? '', extension: type }))

export class NoConsole extends ConsoleInterface {
  readonly name = 'no-console'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  startConsole(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  stopConsole(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  getConsole(task: Task): Promise<JsonDict> {
    return refuse(task, this.type)
  }
}

export class NoRescue extends RescueInterface {
  readonly name = 'no-rescue'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  rescue(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  unrescue(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
}

export class NoVendor extends VendorInterface {
  readonly name = 'no-vendor'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  methods(): Readonly<Record<string, VendorMethod>> {
    return {}
  }
}

export class NoInspect extends InspectInterface {
  readonly name = 'no-inspect'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  inspectHardware(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
}

export class NoRaid extends RaidInterface {
  readonly name = 'no-raid'
  override validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  override validateRaidConfig(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
}

/** There are no settings to cache: that is not an error. */
export class NoBios extends BiosInterface {
  readonly name = 'no-bios'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  cacheBiosSettings(_task: Task): Promise<void> {
    return Promise.resolve()
  }
}

/** There are no components to cache: that is not an error. */
export class NoFirmware extends FirmwareInterface {
  readonly name = 'no-firmware'
  validate(task: Task): Promise<void> {
    return refuse(task, this.type)
  }
  cacheFirmwareComponents(_task: Task): Promise<void> {
    return Promise.resolve()
  }
}

/** Deploys nothing: for machines that others install. */
export class NoDeploy extends DeployInterface {
  readonly name = 'noop'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  override steps(): readonly StepSpec[] {
    return [{ phase: 'deploy', step: 'deploy', priority: 100, run: () => Promise.resolve() }]
  }
  prepare(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  cleanUp(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  takeOver(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  tearDown(_task: Task): Promise<void> {
    return Promise.resolve()
  }
}
