import type { Step } from '../domain/steps.ts'
import { mayHoldSecret } from '../lib/secrets/mask.ts'
import type { Node, Port } from '../objects/index.ts'
import { NodeObject } from '../objects/node.ts'
import { PortObject } from '../objects/port.ts'
import type { Json, JsonDict } from '../objects/versioned-object.ts'

const mask = '******'

/** What only hardware drivers know to be secret, beside the words of oslo.utils. */
const driverSecrets = /passwd|community|auth_key|priv_key/i

const isSecret = (key: string) => mayHoldSecret(key) || driverSecrets.test(key)

/** A copy without secrets: what stands under a key that sounds like one, and passwords inside URLs. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value === 'string') return value.replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi, `$1${mask}@`)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    copy[key] = isSecret(key) ? mask : withoutSecrets(item)
  }
  return copy
}

/** Times as oslo.serialization writes them: UTC without an offset, microseconds. */
const wireTime = (time: Date) => time.toISOString().replace('Z', '000')

const plain = (value: unknown): unknown => (value instanceof Date ? wireTime(value) : (value ?? null))

/**
 * The node as the agent is told it: every column, secrets masked. Hardware managers read `properties`, `extra`,
 * `target_raid_config` and the erase settings in `driver_internal_info`.
 * @param configdrive in clear: deploy steps of custom agents write it themselves
 */
export function nodeForAgent(node: Node, { configdrive = false } = {}): JsonDict {
  const wire: JsonDict = {}
  for (const name of Object.keys(NodeObject.fields) as (keyof Node)[]) wire[name] = plain(node[name])
  for (const name of ['driver_info', 'driver_internal_info', 'instance_info']) {
    wire[name] = withoutSecrets(wire[name] ?? {})
  }
  const drive: unknown = node.instance_info?.['configdrive']
  if (configdrive && drive !== undefined && drive !== null) wire['instance_info']['configdrive'] = drive
  wire['traits'] = { objects: (node.traits ?? []).map(({ trait }) => ({ trait: trait as Json })) }
  return wire
}

export function portForAgent(port: Port, node: Node): JsonDict {
  const wire: JsonDict = {}
  for (const name of Object.keys(PortObject.fields) as (keyof Port)[]) wire[name] = plain(port[name])
  wire['node_uuid'] = node.uuid
  return wire
}

/** A step as the conductor holds it. */
export const stepForAgent = (step: Partial<Step>): JsonDict => ({ ...step })
