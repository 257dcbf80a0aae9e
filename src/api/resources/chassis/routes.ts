import { randomUUID } from 'node:crypto'
import {
  createChassis,
  destroyChassis,
  getChassis,
  listChassisRows,
  updateChassis,
  type ChassisValues,
} from '../../../db/chassis.ts'
import type { Chassis } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, patched, PatchBody, patchedFields, readPatched, updatable } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import {
  listAnswer,
  detailArgs,
  fieldArgs,
  listReply,
  pageArgs,
  pageOf,
  shownFields,
  type PageArgs,
} from '../../listing.ts'
import { jsonText, route, type AnyCall } from '../../resource.ts'
import { Uuid } from '../../values.ts'
import { rowOf } from '../../view.ts'
import { chassisFields } from './fields.ts'
import { chassisView } from './view.ts'

const one = (call: AnyCall, chassis: Chassis, names: readonly string[] | null = null): string =>
  chassisView.writer(call.minor, names)(rowOf(chassis), { url: call.url })

const uuidOf = (call: AnyCall): string => Uuid.read('chassis_uuid', call.params['chassis'])

async function list(call: AnyCall, args: PageArgs, shown: readonly string[] | null, path: string, parameters = {}) {
  const page = pageOf(args, call.api.config, ['extra'])
  const rows = await listChassisRows(call.api.db, page)
  return listReply(call, {
    name: 'chassis',
    rows,
    view: chassisView,
    context: { url: call.url },
    shown,
    path,
    page,
    parameters,
  })
}

const listChassis = route({
  method: 'GET',
  path: '/v1/chassis',
  answer: listAnswer('chassis', chassisView),
  policy: 'baremetal:chassis:get',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs },
  async handler(call) {
    const { fields, detail } = call.args
    chassisView.check(fields, call.minor)
    return list(call, call.args, shownFields(call.args, chassisView.listed), 'chassis', { detail })
  },
})

const listChassisDetail = route({
  method: 'GET',
  path: '/v1/chassis/detail',
  answer: listAnswer('chassis', chassisView),
  action: true,
  policy: 'baremetal:chassis:get',
  args: pageArgs,
  handler: (call) => list(call, call.args, null, 'chassis/detail'),
})

const showChassis = route({
  method: 'GET',
  path: '/v1/chassis/:chassis',
  answer: chassisView,
  policy: 'baremetal:chassis:get',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const chassis = await getChassis(call.api.db, uuidOf(call))
    chassisView.check(fields, call.minor)
    return jsonText(one(call, chassis, fields ?? null))
  },
})

const createChassisRoute = route({
  method: 'POST',
  path: '/v1/chassis',
  answer: chassisView,
  status: 201,
  policy: 'baremetal:chassis:create',
  body: createBody(chassisFields),
  fields: chassisFields,
  async handler(call) {
    const values: ChassisValues = { ...call.body, uuid: (call.body['uuid'] as string | null) ?? randomUUID() }
    const chassis = await announced(call, 'chassis.create', values, () => createChassis(call.api.db, values))
    return jsonText(one(call, chassis), { location: resourceUrl(call.url, 'chassis', chassis.uuid ?? '') })
  },
})

const allowed = updatable(chassisFields)

const updateChassisRoute = route({
  method: 'PATCH',
  path: '/v1/chassis/:chassis',
  answer: chassisView,
  policy: 'baremetal:chassis:update',
  body: PatchBody,
  async handler(call) {
    // `uuid` may be named, but `updateChassis` refuses to change it
    patchedFields(call.body, [...allowed, 'uuid'], call.minor)
    const chassis = await getChassis(call.api.db, uuidOf(call))
    const after = readPatched(
      chassisFields,
      patched(chassis, call.body),
      (name) => allowed.includes(name) || name === 'uuid',
    )
    const values: ChassisValues = {
      description: (after['description'] as string | null | undefined) ?? null,
      extra: (after['extra'] as Chassis['extra'] | undefined) ?? null,
      ...(after['uuid'] === chassis.uuid ? {} : { uuid: (after['uuid'] as string | undefined) ?? null }),
    }
    const change = () => updateChassis(call.api.db, chassis.id, values)
    return jsonText(one(call, await announced(call, 'chassis.update', { ...chassis, ...values }, change)))
  },
})

const deleteChassis = route({
  method: 'DELETE',
  path: '/v1/chassis/:chassis',
  status: 204,
  policy: 'baremetal:chassis:delete',
  async handler(call) {
    const chassis = await getChassis(call.api.db, uuidOf(call))
    await announced(call, 'chassis.delete', chassis, () => destroyChassis(call.api.db, chassis.id))
  },
})

export const chassisRoutes = [
  listChassis,
  listChassisDetail,
  showChassis,
  createChassisRoute,
  updateChassisRoute,
  deleteChassis,
]
