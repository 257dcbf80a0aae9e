/** Rules for the values of a node that look beyond one field. */
import { getChassis, getChassisById } from '../../../db/chassis.ts'
import { ClientSideError, Invalid, NotAcceptable } from '../../../errors/base.ts'
import { ChassisNotFound } from '../../../errors/chassis.ts'
import { BootModeNotAllowed } from '../../../errors/driver.ts'
import { IronicError } from '../../../errors/define.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Chassis, Node } from '../../../objects/index.ts'
import type { AnyCall } from '../../resource.ts'
import { shortly } from '../../values.ts'
import { isNameIn, visibleNode } from './visible.ts'

/** Words that stand for something below `/v1/nodes`. */
export const reservedNames = ['detail', 'maintenance', 'management', 'states', 'validate', 'vendor_passthru']

/** @throws NotAcceptable below 1.5, ClientSideError for a name that cannot be */
export function checkName(name: unknown, minor: number): void {
  if (minor < 5) throw new NotAcceptable('Naming a node needs API version 1.5 or newer.')
  if (typeof name !== 'string' || !isNameIn(name, minor) || isUuidLike(name)) {
    throw new ClientSideError(
      `"${shortly(name)}" cannot be the name of a node: it takes letters, digits, -, ., _ and ~, and must not look like a UUID.`,
    )
  }
  if (reservedNames.includes(name)) {
    throw new ClientSideError(
      `The word "${name}" is reserved and can not be used as a node name. Reserved words are: ${reservedNames.join(', ')}.`,
    )
  }
}

/** @throws BootModeNotAllowed when the capabilities ask for a boot mode that operators ruled out */
export function checkBootMode(capabilities: unknown, disallowed: readonly string[]): void {
  if (disallowed.length === 0 || capabilities === undefined || capabilities === null || capabilities === '') return
  if (typeof capabilities !== 'string')
    throw new Invalid('properties/capabilities must be text of the form "key:value,key:value".')
  for (const pair of capabilities.toLowerCase().split(',')) {
    const [key, value, ...more] = pair.split(':')
    if (value === undefined || more.length > 0)
      throw new Invalid(`The capability "${pair.slice(0, 64)}" is not of the form key:value.`)
    if (key?.trim() === 'boot_mode' && disallowed.includes(value.trim())) {
      throw new BootModeNotAllowed({ mode: value.trim(), op: 'provisioning' })
    }
  }
}

/** The chassis that a node shall be in. @throws ChassisNotFound as a bad request */
export async function chassisNamed(call: AnyCall, uuid: string | null | undefined): Promise<Chassis | null> {
  if (!uuid) return null
  try {
    return await getChassis(call.api.db, uuid)
  } catch (cause) {
    if (!(cause instanceof ChassisNotFound)) throw cause
    throw new ChassisNotFound(cause.message, { code: 400, cause })
  }
}

/** The chassis of a node, as notifications name it. */
export async function chassisOf({ api }: AnyCall, { chassis_id: id }: Node): Promise<{ chassis_uuid: string | null }> {
  return { chassis_uuid: id === null || api.notifier === undefined ? null : (await getChassisById(api.db, id)).uuid }
}

/**
 * The node that a resource shall point to: the caller must see it, and both must have the same owner.
 * The answer never tells whether the node exists.
 * @throws Invalid
 */
export async function linkableNode(
  call: AnyCall,
  owner: string | null | undefined,
  ident: unknown,
  fieldName: string,
): Promise<Node> {
  const refused = (cause?: unknown): IronicError =>
    new Invalid(`Unable to apply the requested ${fieldName} '${shortly(ident)}'. Requested value was invalid.`, {
      cause,
    })
  let node: Node
  try {
    if (typeof ident !== 'string') throw refused()
    node = await visibleNode(call, 'baremetal:node:get', { ident })
  } catch (cause) {
    if (!(cause instanceof IronicError) || cause.code >= 500) throw cause
    throw refused(cause)
  }
  if ((node.owner ?? null) !== (owner ?? null)) throw refused()
  return node
}
