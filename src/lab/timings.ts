/** How long a machine takes for what it does, in milliseconds. */
export interface Timings {
  /** from the reset until the BMC says On */
  readonly powerOn: number
  /** from ForceOff until the BMC says Off */
  readonly powerOff: number
  /** from GracefulShutdown, or the agent's own power off, until the BMC says Off */
  readonly shutdown: number
  /** from On until the boot loader reads its configuration */
  readonly firmware: number
  /** from the boot loader until the agent runs */
  readonly ramdisk: number
  /** from the boot loader of the disk until the system runs */
  readonly system: number
  /** least pause between two heartbeats of an agent */
  readonly heartbeatPause: number
  /** first pause between two lookups that failed */
  readonly lookupPause: number
  /** pause before an image is fetched again */
  readonly downloadPause: number
  /** what a step takes that does nothing here (burn-in, erasing) */
  readonly step: number
}

/** As the real agent behaves, on a machine that boots quickly. */
export const realisticTimings: Timings = {
  powerOn: 1500,
  powerOff: 1500,
  shutdown: 3000,
  firmware: 3000,
  ramdisk: 5000,
  system: 3000,
  heartbeatPause: 5000,
  lookupPause: 1000,
  downloadPause: 10_000,
  step: 1000,
}

/** For demonstrations and tests: nothing on the wire differs but the pauses. */
export const quickTimings: Timings = {
  powerOn: 100,
  powerOff: 100,
  shutdown: 200,
  firmware: 300,
  ramdisk: 2500,
  system: 100,
  heartbeatPause: 300,
  lookupPause: 200,
  downloadPause: 300,
  step: 100,
}
