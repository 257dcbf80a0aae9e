import { readAddress, readMac } from './addresses.ts'
import { TlvReader } from './reader.ts'

/** An identifier of a chassis or port: what kind it is and its text. `kind` null: a subtype that 802.1AB does not have. */
export interface LldpId {
  readonly kind: 'text' | 'mac' | 'address' | null
  readonly value: string | null
}

type Kinds = Readonly<Record<number, 'text' | 'mac' | 'address'>>
/** 802.1AB-2016 table 8-2 and 8-3. */
const chassisKinds: Kinds = { 1: 'text', 2: 'text', 3: 'text', 4: 'mac', 5: 'address', 6: 'text', 7: 'text' }
const portKinds: Kinds = { 1: 'text', 2: 'text', 3: 'mac', 4: 'address', 5: 'text', 7: 'text' }

function readId(octets: Buffer, kinds: Kinds): LldpId {
  const reader = new TlvReader(octets)
  const kind = kinds[reader.u8()] ?? null
  if (kind === null) return { kind, value: null }
  if (kind === 'text') return { kind, value: reader.text() }
  return { kind, value: kind === 'mac' ? readMac(reader) : readAddress(reader) }
}

/** @throws LldpError when octets are missing or the text is not UTF-8 */
export const readChassisId = (octets: Buffer): LldpId => readId(octets, chassisKinds)
/** @throws LldpError when octets are missing or the text is not UTF-8 */
export const readPortId = (octets: Buffer): LldpId => readId(octets, portKinds)
