import { AllocationObject } from './allocation.ts'
import { BIOSSettingObject, BIOSSettingListObject } from './bios-setting.ts'
import { ChassisObject } from './chassis.ts'
import { ConductorObject } from './conductor.ts'
import { DeployTemplateObject } from './deploy-template.ts'
import { DeploymentObject } from './deployment.ts'
import { FirmwareComponentObject, FirmwareComponentListObject } from './firmware-component.ts'
import { InspectionRuleObject } from './inspection-rule.ts'
import { NodeObject } from './node.ts'
import { NodeHistoryObject } from './node-history.ts'
import { NodeInventoryObject } from './node-inventory.ts'
import { PortObject } from './port.ts'
import { PortgroupObject } from './portgroup.ts'
import { RunbookObject } from './runbook.ts'
import { RunbookTraitObject, RunbookTraitListObject } from './runbook-trait.ts'
import { TraitObject, TraitListObject } from './trait.ts'
import { VolumeConnectorObject } from './volume-connector.ts'
import { VolumeTargetObject } from './volume-target.ts'

/** Every versioned object that travels between services, by its name on the wire. */
export const objects = {
  Allocation: AllocationObject,
  BIOSSetting: BIOSSettingObject,
  BIOSSettingList: BIOSSettingListObject,
  Chassis: ChassisObject,
  Conductor: ConductorObject,
  DeployTemplate: DeployTemplateObject,
  Deployment: DeploymentObject,
  FirmwareComponent: FirmwareComponentObject,
  FirmwareComponentList: FirmwareComponentListObject,
  InspectionRule: InspectionRuleObject,
  Node: NodeObject,
  NodeHistory: NodeHistoryObject,
  NodeInventory: NodeInventoryObject,
  Port: PortObject,
  Portgroup: PortgroupObject,
  Runbook: RunbookObject,
  RunbookTrait: RunbookTraitObject,
  RunbookTraitList: RunbookTraitListObject,
  Trait: TraitObject,
  TraitList: TraitListObject,
  VolumeConnector: VolumeConnectorObject,
  VolumeTarget: VolumeTargetObject,
}

export type { Allocation } from './allocation.ts'
export type { BIOSSetting } from './bios-setting.ts'
export type { Chassis } from './chassis.ts'
export type { Conductor } from './conductor.ts'
export type { DeployTemplate } from './deploy-template.ts'
export type { Deployment } from './deployment.ts'
export type { FirmwareComponent } from './firmware-component.ts'
export type { InspectionRule } from './inspection-rule.ts'
export type { Node } from './node.ts'
export type { NodeHistory } from './node-history.ts'
export type { NodeInventory } from './node-inventory.ts'
export type { Port } from './port.ts'
export type { Portgroup } from './portgroup.ts'
export type { Runbook } from './runbook.ts'
export type { RunbookTrait } from './runbook-trait.ts'
export type { Trait } from './trait.ts'
export type { VolumeConnector } from './volume-connector.ts'
export type { VolumeTarget } from './volume-target.ts'
