import { NoValidHost } from '../../errors/conductor.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import type { RequestContext } from '../../domain/context.ts'
import type { ClientOf, Contract, Methods, ServiceOf, Transport } from '../contract.ts'

type Handler = (context: RequestContext, args: Record<string, unknown>) => Promise<unknown>
type Handlers = Readonly<Record<string, Handler>>

/**
 * `rpc_transport = none`: services of one process call each other directly. Arguments and results are handed over as they are,
 * so neither side may change what it was given.
 */
export function localTransport(log: Logger): Transport {
  /** topic, host, service */
  const topics = new Map<string, Map<string, Handlers>>()

  function serviceAt(topic: string, host: string | null): Handlers {
    const hosts = topics.get(topic)
    const service = host === null ? hosts?.values().next().value : hosts?.get(host)
    if (service === undefined) {
      const where = host === null ? 'nobody' : `no host ${host}`
      throw new NoValidHost({ reason: `${where} in this process serves ${topic}` })
    }
    return service
  }

  function client<M extends Methods>(contract: Contract<M>, host: string | null): ClientOf<Contract<M>> {
    const proxy: Record<string, Handler> = {}
    for (const [name, spec] of Object.entries(contract.methods)) {
      const defaults = spec.defaults ?? {}
      const call = async (context: RequestContext, args: Record<string, unknown>) =>
        serviceAt(contract.topic, host)[name]!(context, { ...defaults, ...given(args) })
      proxy[name] =
        spec.kind !== 'cast'
          ? call
          : (context, args) => {
              call(context, args).catch((error: unknown) =>
                log.error(`The cast ${name} to ${host ?? contract.topic} failed: ${String(error)}`, { error }),
              )
              return Promise.resolve()
            }
    }
    return proxy as unknown as ClientOf<Contract<M>>
  }

  function serve<M extends Methods>(
    contract: Contract<M>,
    host: string,
    service: ServiceOf<Contract<M>>,
  ): Promise<AsyncDisposable> {
    const hosts = topics.get(contract.topic) ?? new Map<string, Handlers>()
    topics.set(contract.topic, hosts)
    hosts.set(host, service)
    return Promise.resolve({
      [Symbol.asyncDispose]() {
        if (hosts.get(host) === (service as unknown)) hosts.delete(host)
        return Promise.resolve()
      },
    })
  }

  return { client, serve }
}

/** Without arguments that are undefined: their default holds. */
const given = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))
