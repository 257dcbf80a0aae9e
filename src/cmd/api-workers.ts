import cluster, { type Worker } from 'node:cluster'
import type { RootLogger } from '../lib/oslo-log/create-logger.ts'
import type { Clock } from '../domain/clock.ts'

/** A worker that ends by itself is replaced after so long, lest a fault at the start becomes a storm. */
const replaceAfterMs = 1000

export interface ApiWorkers {
  /** Ends all workers as they would end by themselves; a second call waits for the first. */
  stop(): Promise<void>
  /** Hands a signal on. */
  signal(name: NodeJS.Signals): void
}

/** Runs `[api]api_workers` copies of this process, which share the API's address. Called in the first process only. */
export function startApiWorkers(count: number, { log, clock }: { log: RootLogger; clock: Clock }): ApiWorkers {
  const workers = new Set<Worker>()
  const stopping = new AbortController()
  const start = (): void => {
    if (stopping.signal.aborted) return
    const worker = cluster.fork()
    workers.add(worker)
    worker.once('exit', (status, signal) => {
      workers.delete(worker)
      if (stopping.signal.aborted) return
      log.error(`API worker ${worker.process.pid} ended (${signal ?? status}) and is replaced.`)
      void clock.sleep(replaceAfterMs, stopping.signal).then(start, () => undefined)
    })
  }
  for (let index = 0; index < count; index++) start()
  log.info(`${count} API workers are starting.`)

  const ended = (worker: Worker) => new Promise<void>((resolve) => void worker.once('exit', () => resolve()))
  let stopped: Promise<unknown> | undefined
  return {
    async stop() {
      stopping.abort()
      stopped ??= Promise.all(
        [...workers].map((worker) => {
          const end = ended(worker)
          worker.process.kill('SIGTERM')
          return end
        }),
      )
      await stopped
    },
    signal(name) {
      for (const worker of workers) worker.process.kill(name)
    },
  }
}

/** Whether this process is one of the copies. */
export const isApiWorker = (): boolean => cluster.isWorker

/** A copy has nothing more to tell the first process; the channel to it would keep it alive. */
export function leaveWorkers(): void {
  cluster.worker?.disconnect()
}
