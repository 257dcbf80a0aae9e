/** Names of states and sets of them, as Ironic's `states` module has them. */
export const states = {
  NOSTATE: null,
  ENROLL: 'enroll',
  VERIFYING: 'verifying',
  MANAGEABLE: 'manageable',
  AVAILABLE: 'available',
  ACTIVE: 'active',
  DEPLOY: 'deploy',
  DEPLOYWAIT: 'wait call-back',
  DEPLOYING: 'deploying',
  DEPLOYFAIL: 'deploy failed',
  DEPLOYDONE: 'deploy complete',
  DEPLOYHOLD: 'deploy hold',
  DELETING: 'deleting',
  DELETED: 'deleted',
  CLEANING: 'cleaning',
  UNDEPLOY: 'undeploy',
  CLEANWAIT: 'clean wait',
  CLEANFAIL: 'clean failed',
  CLEANHOLD: 'clean hold',
  ERROR: 'error',
  REBUILD: 'rebuild',
  INSPECTING: 'inspecting',
  INSPECTFAIL: 'inspect failed',
  INSPECTWAIT: 'inspect wait',
  ADOPTING: 'adopting',
  ADOPTFAIL: 'adopt failed',
  RESCUE: 'rescue',
  RESCUEFAIL: 'rescue failed',
  RESCUEWAIT: 'rescue wait',
  RESCUING: 'rescuing',
  UNRESCUEFAIL: 'unrescue failed',
  UNRESCUING: 'unrescuing',
  SERVICE: 'service',
  SERVICING: 'servicing',
  SERVICEWAIT: 'service wait',
  SERVICEFAIL: 'service failed',
  SERVICEHOLD: 'service hold',
  POWER_ON: 'power on',
  POWER_OFF: 'power off',
  REBOOT: 'rebooting',
  SOFT_REBOOT: 'soft rebooting',
  SOFT_POWER_OFF: 'soft power off',
  ALLOCATING: 'allocating',
  PROVISIONING: 'provisioning',
  TAKEOVER: 'takeover',
  INTROSPECTION: 'introspection',
  CONDUCTOR: 'conductor',
  TRANSITION: 'transition',
  STARTFAIL: 'startup failure',
  UNPROVISION: 'unprovision',
  ADOPTION: 'adoption',
  CONSOLE: 'console',
  MONITORING: 'monitoring',
  VERIFY: 'verify',
} as const

export const SERVICING_STATES: ReadonlySet<string | null> = new Set([
  'service failed',
  'service hold',
  'service wait',
  'servicing',
])
export const INSPECTION_STATES: ReadonlySet<string | null> = new Set(['inspect failed', 'inspect wait', 'inspecting'])
export const UPDATE_ALLOWED_STATES: ReadonlySet<string | null> = new Set([
  'adopt failed',
  'clean failed',
  'deploy failed',
  'error',
  'inspect failed',
  'inspect wait',
  'inspecting',
  'rescue failed',
  'service',
  'service failed',
  'service hold',
  'unrescue failed',
  'verifying',
])
export const DELETE_ALLOWED_STATES: ReadonlySet<string | null> = new Set(['adopt failed', 'enroll', 'manageable'])
export const STUCK_STATES_TREATED_AS_FAIL: ReadonlySet<string | null> = new Set([
  'adopting',
  'cleaning',
  'deleting',
  'deploying',
  'inspecting',
  'rescuing',
  'servicing',
  'unrescuing',
  'verifying',
])
export const LOOKUP_ALLOWED_STATES: ReadonlySet<string | null> = new Set([
  'clean wait',
  'cleaning',
  'deploying',
  'inspect wait',
  'inspecting',
  'rescue wait',
  'rescuing',
  'service wait',
  'wait call-back',
])
export const FASTTRACK_LOOKUP_ALLOWED_STATES: ReadonlySet<string | null> = new Set([
  'available',
  'clean wait',
  'cleaning',
  'deploying',
  'enroll',
  'inspect wait',
  'inspecting',
  'manageable',
  'rescue wait',
  'rescuing',
  'service hold',
  'service wait',
  'servicing',
  'wait call-back',
])
export const FAILURE_STATES: ReadonlySet<string | null> = new Set([
  'adopt failed',
  'clean failed',
  'deploy failed',
  'inspect failed',
  'rescue failed',
  'service failed',
  'unrescue failed',
])
export const STABLE_STATES: ReadonlySet<string | null> = new Set([
  'active',
  'available',
  'enroll',
  'error',
  'manageable',
  'rescue',
])
export const UNSTABLE_STATES: ReadonlySet<string | null> = new Set([
  'adopting',
  'clean wait',
  'cleaning',
  'deleting',
  'deploying',
  'inspect wait',
  'inspecting',
  'rescue wait',
  'rescuing',
  'service wait',
  'servicing',
  'unrescuing',
  'verifying',
  'wait call-back',
])

/** Power states a request may name; the value is the state that it ends in. */
export const powerTargets = {
  'power on': 'power on',
  'power off': 'power off',
  rebooting: 'power on',
  'soft rebooting': 'power on',
  'soft power off': 'power off',
} as const
export type PowerTarget = keyof typeof powerTargets
export type PowerState = 'power on' | 'power off' | 'error' | null

export const bootModes = {
  LEGACY_BIOS: 'bios',
  UEFI: 'uefi',
} as const

export const bootDevices = {
  PXE: 'pxe',
  DISK: 'disk',
  CDROM: 'cdrom',
  BIOS: 'bios',
  SAFE: 'safe',
  WANBOOT: 'wanboot',
  ISCSIBOOT: 'iscsiboot',
  FLOPPY: 'floppy',
  UEFIHTTP: 'uefihttp',
} as const

export const indicatorComponents = {
  CHASSIS: 'chassis',
  SYSTEM: 'system',
  DISK: 'disk',
  POWER: 'power',
  NIC: 'nic',
} as const

export const indicatorStates = {
  OFF: 'off',
  ON: 'on',
  BLINKING: 'blinking',
  UNKNOWN: 'unknown',
} as const

export const faults = {
  POWER_FAILURE: 'power failure',
  CLEAN_FAILURE: 'clean failure',
  RESCUE_ABORT_FAILURE: 'rescue abort failure',
  SERVICE_FAILURE: 'service failure',
} as const
