import type { PayloadName } from './payloads.ts'

export type NotificationStatus = 'start' | 'end' | 'error' | 'success'
export type NotificationLevel = 'debug' | 'info' | 'warning' | 'error' | 'critical'

export interface EventSpec {
  readonly payload: PayloadName
  /** the service that sends it */
  readonly publisher: 'ironic-api' | 'ironic-conductor'
  readonly statuses: readonly NotificationStatus[]
}

const crud = (payload: PayloadName): EventSpec => ({
  payload,
  publisher: 'ironic-api',
  statuses: ['start', 'end', 'error'],
})

/** Every event by `object.action`; an error is of level `error`, the others of level `info`. */
export const events = {
  'allocation.create': crud('AllocationCRUDPayload'),
  'allocation.update': crud('AllocationCRUDPayload'),
  'allocation.delete': crud('AllocationCRUDPayload'),
  'chassis.create': crud('ChassisCRUDPayload'),
  'chassis.update': crud('ChassisCRUDPayload'),
  'chassis.delete': crud('ChassisCRUDPayload'),
  'deploytemplate.create': crud('DeployTemplateCRUDPayload'),
  'deploytemplate.update': crud('DeployTemplateCRUDPayload'),
  'deploytemplate.delete': crud('DeployTemplateCRUDPayload'),
  'node.create': crud('NodeCRUDPayload'),
  'node.update': crud('NodeCRUDPayload'),
  'node.delete': crud('NodeCRUDPayload'),
  'port.create': crud('PortCRUDPayload'),
  'port.update': crud('PortCRUDPayload'),
  'port.delete': crud('PortCRUDPayload'),
  'portgroup.create': crud('PortgroupCRUDPayload'),
  'portgroup.update': crud('PortgroupCRUDPayload'),
  'portgroup.delete': crud('PortgroupCRUDPayload'),
  'runbook.create': crud('RunbookCRUDPayload'),
  'runbook.update': crud('RunbookCRUDPayload'),
  'runbook.delete': crud('RunbookCRUDPayload'),
  'volumeconnector.create': crud('VolumeConnectorCRUDPayload'),
  'volumeconnector.update': crud('VolumeConnectorCRUDPayload'),
  'volumeconnector.delete': crud('VolumeConnectorCRUDPayload'),
  'volumetarget.create': crud('VolumeTargetCRUDPayload'),
  'volumetarget.update': crud('VolumeTargetCRUDPayload'),
  'volumetarget.delete': crud('VolumeTargetCRUDPayload'),
  'inspectionrule.create': crud('InspectionRuleCRUDPayload'),
  'inspectionrule.update': crud('InspectionRuleCRUDPayload'),
  'inspectionrule.delete': crud('InspectionRuleCRUDPayload'),
  'node.maintenance_set': crud('NodePayload'),
  'node.power_set': {
    payload: 'NodeSetPowerStatePayload',
    publisher: 'ironic-conductor',
    statuses: ['start', 'end', 'error'],
  },
  'node.power_state_corrected': {
    payload: 'NodeCorrectedPowerStatePayload',
    publisher: 'ironic-conductor',
    statuses: ['success'],
  },
  'node.provision_set': {
    payload: 'NodeSetProvisionStatePayload',
    publisher: 'ironic-conductor',
    statuses: ['start', 'end', 'success', 'error'],
  },
  'node.console_set': { payload: 'NodePayload', publisher: 'ironic-conductor', statuses: ['start', 'end', 'error'] },
  'node.console_restore': {
    payload: 'NodePayload',
    publisher: 'ironic-conductor',
    statuses: ['start', 'end', 'error'],
  },
} as const satisfies Record<string, EventSpec>

export type EventName = keyof typeof events
