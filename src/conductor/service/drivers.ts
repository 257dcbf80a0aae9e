import { interfaceTypes } from '../../domain/interfaces.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { InterfaceNotFoundInEntrypoint, NoValidDefaultForInterface } from '../../errors/driver.ts'
import type { DriverVendorMethod, VendorMethod } from '../../drivers/interfaces/driver.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { VendorReply } from '../../rpc/conductor.ts'
import { Background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const driverMethods = (
  parts: ServiceParts,
): Methods<
  | 'get_driver_properties'
  | 'get_raid_logical_disk_properties'
  | 'get_driver_vendor_passthru_methods'
  | 'get_node_vendor_passthru_methods'
  | 'vendor_passthru'
  | 'driver_vendor_passthru'
> => ({
  async get_driver_properties(_context, { driver_name }) {
    const type = parts.drivers.hardwareType(driver_name)
    const properties: Record<string, string> = {}
    for (const kind of interfaceTypes) {
      try {
        const name = parts.drivers.defaultInterface(type, kind)
        Object.assign(properties, parts.drivers.interfaceOf(type, kind, name).properties())
      } catch (error) {
        // a type that this conductor has no interface for has no properties either
        if (error instanceof InterfaceNotFoundInEntrypoint || error instanceof NoValidDefaultForInterface) continue
        throw error
      }
    }
    return properties
  },

  async get_raid_logical_disk_properties(_context, { driver_name }) {
    return { ...defaultOf(parts, driver_name, 'raid').logicalDiskProperties() }
  },

  async get_driver_vendor_passthru_methods(_context, { driver_name }) {
    return describe(defaultOf(parts, driver_name, 'vendor').driverMethods())
  },

  get_node_vendor_passthru_methods: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'listing vendor methods', async (task) =>
      describe(task.driver.vendor.methods()),
    ),

  vendor_passthru: (context, { node_id, driver_method, http_method, info }) =>
    parts.tasks.background<VendorReply>(
      context,
      node_id,
      `vendor method ${driver_method}`,
      async (task) => {
        const { vendor } = task.driver
        const method = find(vendor.methods(), driver_method)
        const verb = checkVerb(method, driver_method, http_method)
        if (method.requireExclusiveLock ?? true) await task.upgradeLock()
        await vendor.validateMethod(task, driver_method, verb, info)
        const reply = { return: null, async: method.async, attach: method.attach ?? false }
        if (!method.async) return { ...reply, return: await method.run(task, info, verb) }
        return new Background(async () => {
          await method.run(task, info, verb)
        }, reply)
      },
      { shared: true },
    ),

  async driver_vendor_passthru(context, { driver_name, driver_method, http_method, info }) {
    const vendor = defaultOf(parts, driver_name, 'vendor')
    const method = find(vendor.driverMethods(), driver_method)
    const verb = checkVerb(method, driver_method, http_method)
    await vendor.validateDriverMethod(driver_method, verb, info)
    const reply = { return: null, async: method.async, attach: method.attach ?? false }
    if (!method.async) return { ...reply, return: await method.run(context, info, verb) }
    parts.workers.start(`Vendor method ${driver_method} of ${driver_name}`, async () => {
      await method.run(context, info, verb)
    })
    return reply
  },
})

function defaultOf<T extends 'raid' | 'vendor'>(parts: ServiceParts, driver: string, kind: T) {
  const type = parts.drivers.hardwareType(driver)
  return parts.drivers.interfaceOf(type, kind, parts.drivers.defaultInterface(type, kind))
}

type AnyMethod = VendorMethod | DriverVendorMethod

function find<M extends AnyMethod>(methods: Readonly<Record<string, M>>, name: string): M {
  if (Object.hasOwn(methods, name)) return methods[name]!
  throw new InvalidParameterValue(
    `There is no vendor method ${name}; there are: ${Object.keys(methods).join(', ') || 'none'}.`,
  )
}

function checkVerb(method: AnyMethod, name: string, httpMethod: string): string {
  const verb = httpMethod.toUpperCase()
  if (method.httpMethods.includes(verb)) return verb
  throw new InvalidParameterValue(
    `The vendor method ${name} does not take ${verb}; it takes ${method.httpMethods.join(', ')}.`,
  )
}

const describe = (methods: Readonly<Record<string, AnyMethod>>): JsonDict =>
  Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      {
        http_methods: [...method.httpMethods],
        async: method.async,
        description: method.description,
        attach: method.attach ?? false,
        ...('requireExclusiveLock' in method ? { require_exclusive_lock: method.requireExclusiveLock } : {}),
      },
    ]),
  )
