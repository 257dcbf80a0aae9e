import { Invalid } from '../../../errors/base.ts'
import { optional, route } from '../../resource.ts'
import { members, Text, text, TextList } from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { idOf } from './states.ts'
import { visibleNode } from './visible.ts'

const window = { since: 89, outside: 'routing 404' } as const
const deviceTypes = ['disk', 'cdrom', 'floppy']
const schemes = ['http', 'https', 'nfs', 'cifs', 'smb']

const showVmedia = route({
  method: 'GET',
  path: '/v1/nodes/:node/vmedia',
  since: 93,
  policy: ['baremetal:node:get', 'baremetal:node:vmedia:get'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:vmedia:get')
    return (await conductorOf(call, node, 400)).get_virtual_media(call.context, idOf(node))
  },
})

const attachVmedia = route({
  ...window,
  method: 'POST',
  path: '/v1/nodes/:node/vmedia',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:vmedia:attach'],
  asks: 'handler',
  body: members(
    {
      device_type: text({ oneOf: deviceTypes }),
      image_url: Text,
      image_download_source: text({ oneOf: ['http', 'local', 'swift'] }),
    },
    { optional: ['image_download_source'] },
  ),
  async handler(call) {
    const { device_type, image_url, image_download_source = 'local' } = call.body
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(image_url)?.[1]?.toLowerCase() ?? ''
    if (!schemes.includes(scheme))
      throw new Invalid(
        `Unsupported or missing URL scheme: "${scheme.slice(0, 32)}". Use one of ${schemes.join(', ')}.`,
      )
    const node = await visibleNode(call, 'baremetal:node:vmedia:attach')
    const conductor = await conductorOf(call, node, 400)
    await conductor.attach_virtual_media(call.context, { ...idOf(node), device_type, image_url, image_download_source })
  },
})

const detachVmedia = route({
  ...window,
  method: 'DELETE',
  path: '/v1/nodes/:node/vmedia',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:vmedia:detach'],
  asks: 'handler',
  args: { device_types: optional(TextList) },
  async handler(call) {
    const { device_types: types } = call.args
    const unknown = types?.filter((type) => !deviceTypes.includes(type)) ?? []
    if (unknown.length > 0) {
      throw new Invalid(
        `Invalid device type(s) ${unknown.join(', ').slice(0, 128)} (valid are ${deviceTypes.join(', ')})`,
      )
    }
    const node = await visibleNode(call, 'baremetal:node:vmedia:detach')
    await (
      await conductorOf(call, node, 400)
    ).detach_virtual_media(call.context, { ...idOf(node), device_types: types ?? null })
  },
})

export const nodeVmediaRoutes = [showVmedia, attachVmedia, detachVmedia]
