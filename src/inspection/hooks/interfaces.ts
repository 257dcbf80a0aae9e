import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { MACAlreadyExists } from '../../errors/index.ts'
import type { Port } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { badInventory, dictOf, dictsOf, type HookInput, type InspectionHook } from './hook.ts'

const macPattern = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/

/** The MAC that the machine booted from; pxelinux writes it `01-aa-bb-cc-dd-ee-ff`. */
function bootMac(input: HookInput): string | null {
  const sent: unknown = dictOf(input, 'boot').pxe_interface
  if (sent === undefined || sent === null || sent === '') return null
  if (typeof sent !== 'string') throw badInventory(input, 'boot.pxe_interface must be a text')
  const dash = sent.indexOf('-')
  return (dash === -1 ? sent : sent.slice(dash + 1).replaceAll('-', ':')).toLowerCase()
}

/** Interfaces with a name and a valid MAC, by name; `pxe_enabled` says which one booted. */
function usableInterfaces(input: HookInput): Record<string, JsonDict> {
  const booted = bootMac(input)
  const found: Record<string, JsonDict> = Object.create(null) as Record<string, JsonDict>
  for (const nic of dictsOf(input, 'interfaces')) {
    const mac: unknown = nic.mac_address
    if (typeof nic.name !== 'string' || nic.name === '' || typeof mac !== 'string') continue
    if (!macPattern.test(mac.toLowerCase())) {
      input.task.log.warning(`Interface ${nic.name} of node ${input.task.node.uuid} has no valid MAC address`)
      continue
    }
    const address: unknown = nic.ipv6_address ?? null
    // a link-local address comes with its scope: fd00::1%enp2s0
    const unscoped: unknown = typeof address === 'string' ? address.split('%')[0] : address
    found[nic.name] = { ...nic, pxe_enabled: mac.toLowerCase() === booted, ipv6_address: unscoped }
  }
  return found
}

function isLoopback(address: unknown): boolean {
  if (typeof address !== 'string' || isIP(address) === 0) return false
  return ipaddr.parse(address).range() === 'loopback'
}

/** Does `[inspector]add_ports` want a port of this interface? */
function isWanted(nic: JsonDict, name: string, addPorts: string, hasBooted: boolean): boolean {
  const address: unknown = nic.ipv4_address || nic.ipv6_address
  if (name === 'lo' || isLoopback(address)) return false
  if (addPorts === 'pxe' && hasBooted && nic.pxe_enabled !== true) return false
  return addPorts !== 'active' || Boolean(address)
}

/** Sets `all_interfaces`, `valid_interfaces` and `macs` of the plugin data. */
export const validateInterfaces: InspectionHook = {
  name: 'validate-interfaces',
  preprocess(input) {
    const all = usableInterfaces(input)
    if (Object.keys(all).length === 0) throw badInventory(input, 'no interface has both a name and a valid MAC address')
    const { add_ports: addPorts } = input.task.config.inspector
    const hasBooted = bootMac(input) !== null
    const valid = Object.entries(all).filter(([name, nic]) => isWanted(nic, name, addPorts, hasBooted))
    if (valid.length === 0)
      throw badInventory(input, `no interface is one that [inspector]add_ports = ${addPorts} wants`)
    input.pluginData.all_interfaces = { ...all }
    input.pluginData.valid_interfaces = Object.fromEntries(valid.map(([name, nic]) => [name, { ...nic }]))
    input.pluginData.macs = valid.map(([, nic]) => nic.mac_address as string)
  },
}

async function addPorts({ task, pluginData }: HookInput): Promise<void> {
  for (const nic of Object.values(pluginData.valid_interfaces as Record<string, JsonDict>)) {
    const extra = nic.client_id ? { 'client-id': nic.client_id } : {}
    try {
      await task.createPort({
        address: (nic.mac_address as string).toLowerCase(),
        pxe_enabled: nic.pxe_enabled as boolean,
        extra,
      })
    } catch (error) {
      if (!(error instanceof MACAlreadyExists)) throw error
    }
  }
}

/** The MACs whose ports stay; null: all stay. */
function expectedMacs({ task, pluginData }: HookInput, all: JsonDict[]): ReadonlySet<string> | null {
  const kept = {
    all: () => null,
    present: () => new Set(all.map((nic) => (nic.mac_address as string).toLowerCase())),
    added: () => new Set((pluginData.macs as string[]).map((mac) => mac.toLowerCase())),
  }[task.config.inspector.keep_ports]()
  return kept !== null && kept.size > 0 ? kept : null
}

/** Brings a port in line with its interface. @returns whether anything changed */
function alignPort(port: Port, nic: JsonDict | undefined, updatePxeEnabled: boolean): boolean {
  const before = JSON.stringify([port.pxe_enabled, port.extra])
  if (updatePxeEnabled) port.pxe_enabled = nic?.pxe_enabled === true
  if (nic?.client_id) port.extra = { ...port.extra, 'client-id': nic.client_id }
  return JSON.stringify([port.pxe_enabled, port.extra]) !== before
}

/** Creates, deletes and updates ports as the options of `[inspector]` say. */
export const ports: InspectionHook = {
  name: 'ports',
  dependencies: ['validate-interfaces'],
  async run(input) {
    const { task, pluginData } = input
    if (task.config.inspector.add_ports !== 'disabled') await addPorts(input)
    const all = Object.values(pluginData.all_interfaces as Record<string, JsonDict>)
    const expected = expectedMacs(input, all)
    const byMac = new Map(all.map((nic) => [(nic.mac_address as string).toLowerCase(), nic]))
    task.forgetPorts()
    for (const port of (await task.ports()).slice()) {
      const mac = port.address ?? ''
      if (expected !== null && !expected.has(mac)) await task.destroyPort(port)
      else if (alignPort(port, byMac.get(mac), task.config.inspector.update_pxe_enabled)) await task.savePort(port)
    }
    task.forgetPorts()
  },
}
