import { IronicError } from '../../errors/index.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { BrokerUnreachable, type BrokerOptions } from '../../lib/oslo-messaging/broker.ts'
import { MessagingTimeout, RemoteError, RpcClient } from '../../lib/oslo-messaging/rpc-client.ts'
import { RpcServer, type Outcome } from '../../lib/oslo-messaging/rpc-server.ts'
import type { RabbitOptions } from '../../lib/oslo-messaging/topology.ts'
import { compareVersions, releaseNamed, type ReleaseName } from '../../objects/convert.ts'
import { contextToWire } from '../context-wire.ts'
import type { ClientOf, Contract, MethodSpec, Methods, ServiceOf, Transport } from '../contract.ts'
import { dispatcher, UnsupportedVersion } from '../dispatcher.ts'
import { fromFailure, toFailure } from '../remote-errors.ts'
import type { RequestContext } from '../../domain/context.ts'
import { argsToWire, resultFromWire, versionFor } from '../serializer.ts'

export interface OsloOptions {
  readonly broker: BrokerOptions
  readonly rabbit: RabbitOptions
  /** `[DEFAULT]rpc_response_timeout`, seconds */
  readonly responseTimeout: number
  /** `[DEFAULT]pin_release_version` */
  readonly pin?: ReleaseName
  readonly log: Logger
}

/** Before anything goes out: a pinned cluster has members that do not know the version. @throws IronicError */
export function checkCap(version: string, pin: ReleaseName | undefined, method: string): void {
  if (pin === undefined) return
  const cap: string = releaseNamed(pin).rpc
  if (compareVersions(version, cap) > 0)
    throw new IronicError(`${method} needs RPC version ${version}, but pin_release_version = ${pin} allows ${cap}.`)
}

function asIronicError(error: unknown): unknown {
  if (error instanceof RemoteError) return fromFailure(error.failure)
  if (error instanceof MessagingTimeout || error instanceof BrokerUnreachable)
    return new IronicError(error.message, { cause: error })
  return error
}

/** `rpc_transport = oslo`: RabbitMQ as oslo.messaging uses it. */
export class OsloTransport implements Transport, AsyncDisposable {
  private readonly options: OsloOptions
  /** one for the whole process: its reply queue serves all calls */
  private shared: RpcClient | null = null

  constructor(options: OsloOptions) {
    this.options = options
  }

  client<M extends Methods>(contract: Contract<M>, host: string | null): ClientOf<Contract<M>> {
    const target = { topic: contract.topic, host }
    const methods = Object.entries(contract.methods).map(([name, spec]) => [
      name,
      (context: RequestContext, args: Record<string, unknown>) => this.send(target, name, spec, context, args),
    ])
    return Object.fromEntries(methods) as ClientOf<Contract<M>>
  }

  private async send(
    target: { topic: string; host: string | null },
    method: string,
    spec: MethodSpec,
    context: RequestContext,
    args: Record<string, unknown>,
  ): Promise<unknown> {
    const wire = argsToWire(spec, args, this.options.pin)
    const version = versionFor(spec, wire)
    checkCap(version, this.options.pin, method)
    const request = { method, args: wire, version, context: contextToWire(context) }
    const timeoutMs = this.options.responseTimeout * 1000
    this.shared ??= new RpcClient(this.options.broker, this.options.rabbit)
    try {
      if (spec.kind === 'cast') return await this.shared.cast(target, request, timeoutMs)
      return resultFromWire(spec, await this.shared.call(target, request, timeoutMs))
    } catch (error) {
      throw asIronicError(error)
    }
  }

  async serve<M extends Methods>(
    contract: Contract<M>,
    host: string,
    service: ServiceOf<Contract<M>>,
  ): Promise<AsyncDisposable> {
    const calls = dispatcher(contract, service, this.options.pin)
    const { broker, rabbit, log } = this.options
    const server = new RpcServer(
      { topic: contract.topic, host },
      async (request): Promise<Outcome> => {
        try {
          if (request.namespace !== null)
            throw new UnsupportedVersion(`There is no namespace ${request.namespace} here.`)
          calls.checkVersion(request.version)
          return { result: await calls.run(request) }
        } catch (error) {
          return { failure: toFailure(error, request.method, log) }
        }
      },
      broker,
      rabbit,
    )
    await server.start(broker.connectTimeoutMs)
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shared?.[Symbol.asyncDispose]()
  }
}
