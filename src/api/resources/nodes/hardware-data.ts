/** What is known of a node's hardware: BIOS settings, firmware, inventory. */
import { getBiosSetting, listBiosSettings } from '../../../db/bios-settings.ts'
import { listFirmwareComponents } from '../../../db/firmware.ts'
import { getNodeInventory } from '../../../db/node-inventory.ts'
import { InvalidParameterValue } from '../../../errors/base.ts'
import { BIOSSettingNotFound } from '../../../errors/driver.ts'
import { NodeInventoryNotFound } from '../../../errors/node.ts'
import { listAnswer, shownFields } from '../../listing.ts'
import { field, optional, route } from '../../resource.ts'
import { Flag, Integer, nullable, Text, TextList, Time } from '../../values.ts'
import { defineView, rowOf } from '../../view.ts'
import { visibleNode } from './visible.ts'

const registry = { since: 74 } as const
const biosView = defineView({
  fields: {
    created_at: field(Time),
    updated_at: field(Time),
    name: field(nullable(Text), { list: true }),
    value: field(nullable(Text), { list: true }),
    attribute_type: field(nullable(Text), registry),
    allowable_values: field(TextList, registry),
    lower_bound: field(nullable(Integer), registry),
    max_length: field(nullable(Integer), registry),
    min_length: field(nullable(Integer), registry),
    read_only: field(nullable(Flag), registry),
    reset_required: field(nullable(Flag), registry),
    unique: field(nullable(Flag), registry),
    upper_bound: field(nullable(Integer), registry),
  },
  resource: 'nodes',
  ident: (row) => `${String(row['node'])}/bios/${String(row['name'])}`,
  extrasNamed: true,
})
/** The times of a setting are always shown. */
const withTimes = (names: readonly string[] | null): readonly string[] | null =>
  names === null ? null : [...names, 'created_at', 'updated_at']

const biosWindow = { since: 40, outside: 'routing 404' } as const

const listBios = route({
  ...biosWindow,
  method: 'GET',
  path: '/v1/nodes/:node/bios',
  answer: listAnswer('bios', biosView),
  policy: ['baremetal:node:get', 'baremetal:node:bios:get'],
  asks: 'handler',
  args: { detail: optional(Flag, { since: 74, below: 400 }), fields: optional(TextList, { since: 74, below: 400 }) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:bios:get')
    biosView.check(call.args.fields, call.minor)
    const write = biosView.writer(call.minor, withTimes(shownFields(call.args, biosView.listed)))
    const settings = await listBiosSettings(call.api.db, node.id)
    const ident = call.params['node']
    return {
      bios: settings.map(
        (setting) => JSON.parse(write({ ...rowOf(setting), node: ident }, { url: call.url })) as unknown,
      ),
    }
  },
})

const showBios = route({
  ...biosWindow,
  method: 'GET',
  path: '/v1/nodes/:node/bios/:setting',
  policy: ['baremetal:node:get', 'baremetal:node:bios:get'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:bios:get')
    const name = call.params['setting']!
    try {
      const setting = await getBiosSetting(call.api.db, node.id, name)
      const write = biosView.writer(call.minor, null)
      return { [name]: JSON.parse(write({ ...rowOf(setting), node: node.uuid }, { url: call.url })) as unknown }
    } catch (cause) {
      if (!(cause instanceof BIOSSettingNotFound)) throw cause
      throw new BIOSSettingNotFound({ node: node.uuid, name }, { cause })
    }
  },
})

const identity = { since: 114 } as const
const firmwareView = defineView({
  fields: {
    created_at: field(Time),
    updated_at: field(Time),
    component: field(Text, { list: true }),
    initial_version: field(Text, { list: true }),
    current_version: field(nullable(Text), { list: true }),
    last_version_flashed: field(nullable(Text), { list: true }),
    vendor: field(nullable(Text), { ...identity, list: true }),
    model: field(nullable(Text), { ...identity, list: true }),
    serial_number: field(nullable(Text), { ...identity, list: true }),
  },
  resource: 'nodes',
  links: false,
  tooNew: (name) => new InvalidParameterValue(`The field ${name} needs API version 1.114 or newer.`),
})

const listFirmware = route({
  method: 'GET',
  path: '/v1/nodes/:node/firmware',
  answer: listAnswer('firmware', firmwareView),
  since: 86,
  outside: 'routing 404',
  policy: ['baremetal:node:get', 'baremetal:node:firmware:get'],
  asks: 'handler',
  args: { fields: optional(TextList) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:firmware:get')
    const { fields } = call.args
    firmwareView.check(fields, call.minor)
    const write = firmwareView.writer(call.minor, withTimes(fields ?? firmwareView.listed))
    const components = await listFirmwareComponents(call.api.db, node.id)
    return {
      firmware: components.map((component) => JSON.parse(write(rowOf(component), { url: call.url })) as unknown),
    }
  },
})

const showInventory = route({
  method: 'GET',
  path: '/v1/nodes/:node/inventory',
  since: 81,
  outside: 'routing 404',
  policy: ['baremetal:node:get', 'baremetal:node:inventory:get'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:inventory:get')
    try {
      const { inventory_data: inventory, plugin_data: pluginData } = await getNodeInventory(call.api.db, node.id)
      return { inventory, plugin_data: pluginData }
    } catch (cause) {
      if (!(cause instanceof NodeInventoryNotFound)) throw cause
      throw new NodeInventoryNotFound({ node: node.uuid }, { cause })
    }
  },
})

export const nodeHardwareDataRoutes = [listBios, showBios, listFirmware, showInventory]
