import { connect, credentials, type ChannelModel, type ConfirmChannel, type Options } from 'amqplib'
import type { Logger } from '../oslo-log/logger.ts'
import type { BrokerAddress, TransportUrl } from './transport-url.ts'

export interface BrokerOptions {
  readonly url: TransportUrl
  /** TLS settings for `tls.connect`; null: plain AMQP */
  readonly tls: Readonly<Record<string, unknown>> | null
  readonly loginMethod: 'PLAIN' | 'AMQPLAIN' | 'EXTERNAL'
  readonly heartbeatSeconds: number
  /** seconds before the first try after a loss, what is added at each further one, and the most */
  readonly retry: { readonly interval: number; readonly backoff: number; readonly max: number }
  readonly connectTimeoutMs: number
  /** program name, shown by the broker */
  readonly program: string
  readonly log: Logger
}

/** The broker cannot be reached. */
export class BrokerUnreachable extends Error {
  override readonly name = 'BrokerUnreachable'
}

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)

/**
 * A connection with one channel that is made again whenever it is lost. `setUp` declares what the channel needs, each time anew.
 * Work that needs the channel waits for `ready()`, with a limit.
 */
export class Broker implements AsyncDisposable {
  private readonly options: BrokerOptions
  private readonly setUp: (channel: ConfirmChannel) => Promise<void>
  private readonly purpose: string
  private readonly closing = new AbortController()
  private connection: ChannelModel | null = null
  private channel: ConfirmChannel | null = null
  private waiters: ((channel: ConfirmChannel) => void)[] = []
  private loop: Promise<void> | null = null

  constructor(options: BrokerOptions, purpose: string, setUp: (channel: ConfirmChannel) => Promise<void>) {
    this.options = options
    this.purpose = purpose
    this.setUp = setUp
  }

  /** Starts connecting; goes on until it is disposed of. */
  start(): void {
    this.loop ??= this.keepConnected()
  }

  /** The channel, once it is set up. @throws BrokerUnreachable after the time */
  async ready(timeoutMs: number): Promise<ConfirmChannel> {
    this.start()
    if (this.channel !== null) return this.channel
    const { promise, resolve } = Promise.withResolvers<ConfirmChannel>()
    this.waiters.push(resolve)
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.closing.signal])
    const given = Promise.withResolvers<never>()
    const giveUp = () =>
      given.reject(new BrokerUnreachable(`no message broker of transport_url could be reached within ${timeoutMs} ms`))
    limit.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([promise, given.promise])
    } finally {
      limit.removeEventListener('abort', giveUp)
      this.waiters = this.waiters.filter((waiter) => waiter !== resolve)
    }
  }

  private async keepConnected(): Promise<void> {
    const { interval, backoff, max } = this.options.retry
    let wait = interval
    while (!this.closing.signal.aborted) {
      try {
        await this.stayConnected()
        wait = interval
        if (!this.closing.signal.aborted) this.options.log.warning(`The connection for ${this.purpose} was lost`)
      } catch (error) {
        if (this.closing.signal.aborted) return
        this.options.log.error(`No connection for ${this.purpose}; trying again in ${wait} s`, { error })
        await this.pause(wait * 1000)
        wait = Math.min(wait + backoff, max)
      }
    }
  }

  private pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.closing.signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(() => clearTimeout(timer))
  }

  /** Connects, and resolves when the connection is lost. @throws when there was none to lose */
  private async stayConnected(): Promise<void> {
    const connection = await this.connectToAny()
    if (this.closing.signal.aborted) return await connection.close()
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
    connection.once('close', () => {
      this.channel = null
      lose()
    })
    // what happened comes with 'close' as well
    connection.on('error', (error: Error) => this.options.log.debug(`${this.purpose}: ${error.message}`))
    this.connection = connection
    try {
      const channel = await connection.createConfirmChannel()
      channel.on('error', (error: Error) =>
        this.options.log.error(`The broker closed the channel for ${this.purpose}`, { error }),
      )
      // a channel that is gone takes its consumers along: start from the beginning
      channel.once('close', () => void connection.close().catch(() => {}))
      await this.setUp(channel)
      this.channel = channel
    } catch (error) {
      await connection.close().catch(() => {})
      throw error
    }
    for (const waiter of this.waiters.splice(0)) waiter(this.channel)
    await lost
  }

  private async connectToAny(): Promise<ChannelModel> {
    let last: unknown
    for (const address of shuffled(this.options.url.hosts)) {
      if (this.closing.signal.aborted) break
      try {
        return await this.connectTo(address)
      } catch (error) {
        last = error
      }
    }
    throw new BrokerUnreachable('none of the hosts of transport_url answers', { cause: last })
  }

  private connectTo(address: BrokerAddress): Promise<ChannelModel> {
    const { tls, url, heartbeatSeconds, connectTimeoutMs, loginMethod, program } = this.options
    const where: Options.Connect = {
      protocol: tls === null ? 'amqp' : 'amqps',
      hostname: address.host,
      port: address.port,
      username: address.username,
      password: address.password,
      vhost: url.virtualHost,
      heartbeat: heartbeatSeconds,
    }
    const login = {
      PLAIN: () => credentials.plain(address.username, address.password),
      AMQPLAIN: () => credentials.amqplain(address.username, address.password),
      EXTERNAL: () => credentials.external(),
    }[loginMethod]
    return connect(where, {
      ...tls,
      timeout: connectTimeoutMs,
      noDelay: true,
      credentials: login(),
      clientProperties: { connection_name: `${program}:${process.pid}:${this.purpose}` },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closing.abort()
    const { connection } = this
    this.channel = null
    if (connection !== null) await Promise.race([connection.close().catch(() => {}), this.pauseForClose()])
    // a connection that is just being tried may take its whole time limit to fail
    await Promise.race([this.loop, this.pauseForClose()])
  }

  /** A broker that does not answer must not hold the process up. */
  private pauseForClose(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 2000).unref())
  }
}
