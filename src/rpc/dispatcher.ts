import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../domain/context.ts'
import type { ReleaseName } from '../objects/convert.ts'
import { compareVersions } from '../objects/convert.ts'
import type { Contract, Methods, ServiceOf } from './contract.ts'
import { contextFromWire } from './context-wire.ts'
import { argsFromWire, resultToWire } from './serializer.ts'

/** There is no such method here; `oslo_messaging.rpc.dispatcher`. */
export class NoSuchMethod extends Error {
  override readonly name = 'NoSuchMethod'
}

/** The message needs a version that this service does not speak. */
export class UnsupportedVersion extends Error {
  override readonly name = 'UnsupportedVersion'
}

/** Arguments that the method does not take, or lacks. */
export class WrongArguments extends Error {
  override readonly name = 'TypeError'
}

export interface WireCall {
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
  readonly context: Readonly<Record<string, unknown>>
}

type Handler = (context: RequestContext, args: Record<string, unknown>) => Promise<unknown>

/** Runs calls that came over the wire on a service: names, arguments, objects and results as the contract tells. */
export class Dispatcher {
  private readonly contract: Contract
  private readonly service: Readonly<Record<string, Handler>>
  private readonly pin: ReleaseName | undefined

  constructor(contract: Contract, service: ServiceOf<Contract>, pin?: ReleaseName) {
    this.contract = contract
    this.service = service
    this.pin = pin
  }

  /** @throws UnsupportedVersion unless the major is ours and the minor is not above ours */
  checkVersion(version: string): void {
    const [major] = version.split('.')
    const [own] = this.contract.version.split('.')
    if (major !== own || compareVersions(version, this.contract.version) > 0)
      throw new UnsupportedVersion(`Version ${version} is asked for; ${this.contract.version} is spoken here.`)
  }

  /** Runs the call. @returns the result as it goes out. @throws NoSuchMethod, WrongArguments, and what the method throws */
  async run({ method, args, context }: WireCall): Promise<unknown> {
    const spec = Object.hasOwn(this.contract.methods, method) ? this.contract.methods[method] : undefined
    const handler = this.service[method]
    if (spec === undefined || handler === undefined)
      throw new NoSuchMethod(`Endpoint does not support RPC method ${method}.`)
    const unexpected = Object.keys(args).filter((name) => !spec.args.includes(name))
    if (unexpected.length > 0) throw new WrongArguments(`${method}() does not take ${unexpected.join(', ')}.`)
    const full = argsFromWire(spec, args)
    const missing = spec.args.filter((name) => !(name in full))
    if (missing.length > 0) throw new WrongArguments(`${method}() lacks ${missing.join(', ')}.`)
    const caller = contextFromWire(context, () => `req-${randomUUID()}`)
    return resultToWire(spec, await handler.call(this.service, caller, full), this.pin)
  }
}

/** Any method of the contract, for a generic client. */
export const dispatcher = <M extends Methods>(
  contract: Contract<M>,
  service: ServiceOf<Contract<M>>,
  pin?: ReleaseName,
) => new Dispatcher(contract, service, pin)
