import { activeDriverHosts, listHardwareInterfaces, type RegisteredInterface } from '../../../db/conductors.ts'
import { interfaceTypes, type InterfaceType } from '../../../domain/interfaces.ts'
import { Invalid, InvalidParameterValue } from '../../../errors/base.ts'
import { DriverNotFound, UnsupportedDriverExtension } from '../../../errors/driver.ts'
import { linksOf } from '../../links.ts'
import { isOpen, optional, route, type AnyCall, type Route, type Window } from '../../resource.ts'
import { Anything, Flag, Text, TextList, type Members } from '../../values.ts'
import { vendorAnswer, vendorData, vendorMethod } from '../nodes/vendor-passthru.ts'

/** Interface types that came to drivers after 1.30. */
const youngInterfaces: Readonly<Partial<Record<InterfaceType, Window>>> = {
  storage: { since: 33 },
  rescue: { since: 38 },
  bios: { since: 40 },
  firmware: { since: 86 },
}
const knownFields = new Set([
  'name',
  'hosts',
  'links',
  'properties',
  'type',
  ...interfaceTypes.flatMap((type) => [`default_${type}_interface`, `enabled_${type}_interfaces`]),
])

const liveness = ({ api: { config } }: AnyCall): number => config.conductor.heartbeat_timeout

/** Hardware types of the living conductors, with the hosts that serve each. */
async function activeDrivers(call: AnyCall): Promise<Map<string, Set<string>>> {
  const drivers = new Map<string, Set<string>>()
  for (const { hardware_type: type, hostname } of await activeDriverHosts(call.api.db, liveness(call))) {
    const hosts = drivers.get(type)
    if (hosts === undefined) drivers.set(type, new Set([hostname]))
    else hosts.add(hostname)
  }
  return drivers
}

function interfacesOf(registered: readonly RegisteredInterface[], minor: number): Members {
  const shown: Members = {}
  for (const type of interfaceTypes) {
    if (!isOpen(youngInterfaces[type] ?? {}, minor)) continue
    const offered = registered.filter((each) => each.interface_type === type)
    shown[`default_${type}_interface`] = offered.find((each) => each.default)?.interface_name ?? null
    shown[`enabled_${type}_interfaces`] = [...new Set(offered.map((each) => each.interface_name))]
  }
  return shown
}

/** A hardware type as clients see it. @param registered its interfaces when they are shown */
function driverShown(
  call: AnyCall,
  name: string,
  hosts: Iterable<string>,
  registered: readonly RegisteredInterface[] | undefined,
  fields: readonly string[] | undefined,
): Members {
  const { url, minor } = call
  const driver: Members = {
    name,
    hosts: [...hosts],
    links: linksOf(url, 'drivers', name),
    ...(minor >= 14 ? { properties: linksOf(url, 'drivers', `${name}/properties`) } : {}),
    ...(minor >= 30 ? { type: 'dynamic', ...(registered === undefined ? {} : interfacesOf(registered, minor)) } : {}),
  }
  if (fields === undefined) return driver
  return Object.fromEntries(Object.entries(driver).filter(([key]) => key === 'links' || fields.includes(key)))
}

function checkFields(fields: readonly string[] | undefined): void {
  const unknown = fields?.filter((name) => !knownFields.has(name)) ?? []
  if (unknown.length > 0)
    throw new InvalidParameterValue(`Field(s) "${unknown.join(', ').slice(0, 256)}" are not valid`)
}

const fieldArgs = { fields: optional(TextList, { since: 77 }) }

const listDrivers = route({
  method: 'GET',
  path: '/v1/drivers',
  policy: 'baremetal:driver:get',
  args: { type: optional(Text, { since: 30 }), detail: optional(Flag, { since: 30 }), ...fieldArgs },
  async handler(call) {
    const { type, detail, fields } = call.args
    if (fields !== undefined && fields.length > 0 && detail === true) {
      throw new InvalidParameterValue('Can not specify ?detail=True and fields in the same request.')
    }
    checkFields(fields)
    if (type !== undefined && type !== 'classic' && type !== 'dynamic') {
      throw new Invalid('"type" filter must be one of "classic" or "dynamic", if specified.')
    }
    // classic drivers are gone since Rocky
    const hosts = type === 'classic' ? new Map<string, Set<string>>() : await activeDrivers(call)
    const registered =
      detail === true ? await listHardwareInterfaces(call.api.db, liveness(call), [...hosts.keys()]) : undefined
    return {
      drivers: [...hosts].map(([name, names]) =>
        driverShown(
          call,
          name,
          names,
          registered?.filter((each) => each.hardware_type === name),
          fields,
        ),
      ),
    }
  },
})

const showDriver = route({
  method: 'GET',
  path: '/v1/drivers/:driver',
  policy: 'baremetal:driver:get',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const name = call.params['driver']!
    const hosts = (await activeDrivers(call)).get(name)
    if (hosts === undefined) throw new DriverNotFound({ driver_name: name })
    checkFields(fields)
    const registered = call.minor >= 30 ? await listHardwareInterfaces(call.api.db, liveness(call), [name]) : undefined
    return driverShown(call, name, hosts, registered, fields)
  },
})

const showProperties = route({
  method: 'GET',
  path: '/v1/drivers/:driver/properties',
  action: true,
  policy: 'baremetal:driver:get_properties',
  async handler(call) {
    const driver_name = call.params['driver']!
    return (await call.api.conductors.ofDriver(driver_name)).get_driver_properties(call.context, { driver_name })
  },
})

const showLogicalDiskProperties = route({
  method: 'GET',
  path: '/v1/drivers/:driver/raid/logical_disk_properties',
  action: true,
  since: 12,
  outside: 406,
  policy: 'baremetal:driver:get_raid_logical_disk_properties',
  async handler(call) {
    const driver_name = call.params['driver']!
    const conductor = await call.api.conductors.ofDriver(driver_name)
    try {
      return await conductor.get_raid_logical_disk_properties(call.context, { driver_name })
    } catch (cause) {
      if (!(cause instanceof UnsupportedDriverExtension)) throw cause
      // RAID is a standard interface, which not every driver has
      throw new UnsupportedDriverExtension(cause.message, { code: 404, cause })
    }
  },
})

const listVendorMethods = route({
  method: 'GET',
  path: '/v1/drivers/:driver/vendor_passthru/methods',
  action: true,
  policy: 'baremetal:driver:vendor_passthru',
  async handler(call) {
    const driver_name = call.params['driver']!
    return (await call.api.conductors.ofDriver(driver_name)).get_driver_vendor_passthru_methods(call.context, {
      driver_name,
    })
  },
})

const vendorCalls: Route[] = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method) =>
  ['/v1/drivers/:driver/vendor_passthru', '/v1/drivers/:driver/vendor_passthru/:method'].map((path) =>
    route({
      method,
      path,
      policy: 'baremetal:driver:vendor_passthru',
      args: path.endsWith(':method') ? {} : { method: optional(Text) },
      body: Anything,
      async handler(call) {
        const driver_name = call.params['driver']!
        const driver_method = vendorMethod(call)
        const conductor = await call.api.conductors.ofDriver(driver_name)
        const reply = await conductor.driver_vendor_passthru(call.context, {
          driver_name,
          driver_method,
          http_method: method,
          info: vendorData(call.body),
        })
        return vendorAnswer(reply)
      },
    }),
  ),
)

export const driverRoutes = [
  listDrivers,
  showDriver,
  showProperties,
  showLogicalDiskProperties,
  listVendorMethods,
  ...vendorCalls,
]
