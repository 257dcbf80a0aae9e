import type { ResetType } from '../machine.ts'

/** How a BMC of this lab differs from others: what it offers and what it insists on. */
export interface BmcProfile {
  readonly vendor: string
  /** where the drives of virtual media are found */
  readonly mediaUnder: 'system' | 'manager'
  /** log-ins by session (DSP0266 section 13.3.4) */
  readonly sessions: boolean
  /** HTTP Basic */
  readonly basic: boolean
  /** sessions that can be open at once; the oldest goes when another one comes */
  readonly sessionLimit: number
  /** milliseconds of silence after which a session is gone */
  readonly sessionIdle: number
  readonly etags: 'strong' | 'weak' | 'none'
  /** 428 for a PATCH without If-Match */
  readonly requireIfMatch: boolean
  /** 409 for On when it is on, ForceOff when it is off */
  readonly refusesCurrentState: boolean
  /** whether the System shows PoweringOn and PoweringOff, or the old state until the new one is reached */
  readonly showsTransitions: boolean
  /** the reset types that it takes */
  readonly resets: readonly ResetType[]
  /** values of BootSourceOverrideEnabled that it takes */
  readonly overrides: readonly ('Disabled' | 'Once' | 'Continuous')[]
  readonly bios: boolean
  readonly secureBoot: boolean
  readonly storage: boolean
  readonly update: boolean
}

const allResets: readonly ResetType[] = [
  'On',
  'ForceOff',
  'GracefulShutdown',
  'GracefulRestart',
  'ForceRestart',
  'Nmi',
  'ForceOn',
]

/** A BMC with sessions, media under the Manager and strong ETags. */
export const sessionBmc: BmcProfile = {
  vendor: 'Openkeel Lab',
  mediaUnder: 'manager',
  sessions: true,
  basic: true,
  sessionLimit: 16,
  sessionIdle: 30 * 60_000,
  etags: 'strong',
  requireIfMatch: false,
  refusesCurrentState: false,
  showsTransitions: false,
  resets: allResets,
  overrides: ['Disabled', 'Once', 'Continuous'],
  bios: true,
  secureBoot: true,
  storage: true,
  update: true,
}

/** A BMC with Basic alone and media under the System. */
export const basicBmc: BmcProfile = { ...sessionBmc, mediaUnder: 'system', sessions: false }

/** A BMC that refuses whatever the standard lets it refuse. */
export const strictBmc: BmcProfile = {
  ...sessionBmc,
  basic: false,
  sessionLimit: 2,
  etags: 'weak',
  requireIfMatch: true,
  refusesCurrentState: true,
  showsTransitions: true,
}
