import { setTimeout as sleep } from 'node:timers/promises'
import type { Disk } from './disk.ts'
import type { KernelCommand } from './media/boot-config.ts'
import type { Timings } from './timings.ts'

export type PowerState = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff'

/** `BootSourceOverride…` of the System (DSP0266, ComputerSystem schema). */
export interface BootOverride {
  enabled: 'Disabled' | 'Once' | 'Continuous'
  target: string
  mode: 'UEFI' | 'Legacy'
  uri: string | null
}

/** One drive of virtual media. */
export interface MediaSlot {
  readonly id: string
  readonly mediaTypes: readonly string[]
  image: string | null
}

/** What runs on a machine that is on. */
export type Running =
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'firmware' }
  | { readonly kind: 'ramdisk'; readonly kernel: KernelCommand }
  | { readonly kind: 'system'; readonly marker: string | null; readonly hostname: string | null }

/** What the firmware of a machine starts. `run` is ended by its signal when the machine goes off. */
export interface Boots {
  /** Finds what to boot, from the override as it stands. @throws Error when nothing can be booted */
  find(machine: Machine, boot: Readonly<BootOverride>, signal: AbortSignal): Promise<Running>
  /** Runs the ramdisk's agent; resolves when the agent has ended by itself. */
  runRamdisk(machine: Machine, kernel: KernelCommand, signal: AbortSignal): Promise<void>
}

export interface MachineIdentity {
  readonly name: string
  readonly uuid: string
  readonly serial: string
  /** of the first network card; lower case with colons */
  readonly mac: string
  /** address of that card, as the system on it tells (the lab itself talks on loopback, which an inventory never shows) */
  readonly address: string
  readonly cpus: number
  readonly memoryMib: number
}

export const resetTypes = [
  'On',
  'ForceOn',
  'ForceOff',
  'GracefulShutdown',
  'GracefulRestart',
  'ForceRestart',
  'PowerCycle',
  'Nmi',
] as const
export type ResetType = (typeof resetTypes)[number]

/** Lines kept of a console. */
const consoleLines = 400

/**
 * A machine: power, firmware settings, media drives, one disk, and what runs on it. It knows nothing of HTTP: the BMC
 * shows and moves it from outside, the agent from inside.
 */
export class Machine {
  readonly identity: MachineIdentity
  readonly disk: Disk
  readonly timings: Timings
  readonly boot: BootOverride
  readonly media: readonly MediaSlot[]
  /** firmware settings, and those that wait for the next boot */
  readonly bios: Map<string, unknown>
  readonly pendingBios = new Map<string, unknown>()
  secureBoot = { enabled: false, current: false }
  indicator: 'Off' | 'Lit' | 'Blinking' = 'Off'
  biosVersion = '1.0.0'
  nmis = 0
  /** grows with each change that a client of the BMC can see */
  revision = 1
  readonly #boots: Boots
  readonly #console: string[] = []
  readonly #work = new Set<Promise<void>>()
  readonly #watchers = new Set<(line: string) => void>()
  #power: PowerState = 'Off'
  #running: Running = { kind: 'nothing', reason: 'the machine is off' }
  #session: AbortController | null = null
  #turn = 0
  readonly #closing = new AbortController()

  constructor(parts: {
    identity: MachineIdentity
    disk: Disk
    timings: Timings
    boots: Boots
    mode: 'UEFI' | 'Legacy'
    bios: Readonly<Record<string, unknown>>
  }) {
    this.identity = parts.identity
    this.disk = parts.disk
    this.timings = parts.timings
    this.#boots = parts.boots
    this.boot = { enabled: 'Disabled', target: 'None', mode: parts.mode, uri: null }
    this.bios = new Map(Object.entries(parts.bios))
    this.media = [
      { id: 'Cd', mediaTypes: ['CD', 'DVD'], image: null },
      { id: 'Usb', mediaTypes: ['USBStick', 'Floppy'], image: null },
    ]
  }

  get power(): PowerState {
    return this.#power
  }

  get running(): Running {
    return this.#running
  }

  /** What the machine said since it was made, newest last; old lines go. */
  get console(): readonly string[] {
    return this.#console
  }

  say(line: string): void {
    this.#console.push(line)
    if (this.#console.length > consoleLines) this.#console.shift()
    for (const watcher of this.#watchers) watcher(line)
  }

  /** Calls back for each new line of the console; the result ends that. */
  watch(watcher: (line: string) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Marks a change that clients can see. */
  touch(): void {
    this.revision++
  }

  /** Acts on a reset; the change itself takes the time that the machine takes. */
  reset(type: ResetType): void {
    this.say(`reset ${type}`)
    switch (type) {
      case 'On':
      case 'ForceOn':
        if (this.#power === 'Off' || this.#power === 'PoweringOff') this.#start(this.timings.powerOn)
        return
      case 'ForceOff':
        this.#stop(this.timings.powerOff, false)
        return
      case 'GracefulShutdown':
        // Only something that runs can hear the button.
        if (this.#hearsButton()) this.#stop(this.timings.shutdown, false)
        return
      case 'GracefulRestart':
        if (this.#hearsButton()) this.#stop(this.timings.shutdown, true)
        return
      case 'ForceRestart':
      case 'PowerCycle':
        this.#stop(this.timings.powerOff, true)
        return
      case 'Nmi':
        this.nmis++
        return
    }
  }

  /** The system inside shuts itself down, or restarts. */
  leave(how: 'power off' | 'reboot'): void {
    this.say(`the system inside asks for ${how}`)
    this.#stop(this.timings.shutdown, how === 'reboot')
  }

  /** Pulls the plug and waits until nothing of the machine runs any more. */
  async close(): Promise<void> {
    this.#turn++
    this.#power = 'Off'
    this.#closing.abort()
    this.#session?.abort()
    this.#session = null
    while (this.#work.size > 0) await Promise.all(this.#work)
    await this.disk.close()
  }

  #hearsButton(): boolean {
    return this.#power === 'On' && (this.#running.kind === 'ramdisk' || this.#running.kind === 'system')
  }

  #later(delay: number, act: () => void): void {
    const turn = ++this.#turn
    const ended = this.#closing.signal
    this.#keep(
      sleep(delay, undefined, { signal: ended }).then(
        () => {
          if (turn === this.#turn) act()
        },
        (error: unknown) => {
          if (!ended.aborted) throw error
        },
      ),
    )
  }

  #start(delay: number): void {
    this.#set('PoweringOn')
    this.#later(delay, () => {
      this.#set('On')
      this.#begin()
    })
  }

  #stop(delay: number, again: boolean): void {
    if (this.#power === 'Off') {
      if (again) this.#start(this.timings.powerOn)
      return
    }
    this.#set('PoweringOff')
    this.#later(delay, () => {
      this.#session?.abort()
      this.#session = null
      this.#running = { kind: 'nothing', reason: 'the machine is off' }
      this.#set('Off')
      if (again) this.#start(this.timings.powerOn)
    })
  }

  #set(power: PowerState): void {
    if (this.#power === power) return
    this.#power = power
    this.say(`power ${power}`)
    this.touch()
  }

  #begin(): void {
    this.#session?.abort()
    const session = new AbortController()
    this.#session = session
    this.#running = { kind: 'firmware' }
    for (const [name, value] of this.pendingBios) this.bios.set(name, value)
    this.pendingBios.clear()
    this.secureBoot.current = this.secureBoot.enabled
    const boot = { ...this.boot }
    if (boot.enabled === 'Once') {
      this.boot.enabled = 'Disabled'
      this.boot.target = 'None'
      this.touch()
    }
    this.#keep(this.#run(boot, session.signal))
  }

  async #run(boot: Readonly<BootOverride>, signal: AbortSignal): Promise<void> {
    try {
      await sleep(this.timings.firmware, undefined, { signal })
      const found = await this.#boots.find(this, boot, signal)
      signal.throwIfAborted()
      this.#running = found
      if (found.kind === 'ramdisk') {
        this.say(`kernel command line: ${found.kernel.line}`)
        await sleep(this.timings.ramdisk, undefined, { signal })
        await this.#boots.runRamdisk(this, found.kernel, signal)
      } else if (found.kind === 'system') {
        await sleep(this.timings.system, undefined, { signal })
        this.say(`system up: marker=${found.marker ?? 'none'} hostname=${found.hostname ?? 'none'}`)
      }
    } catch (error) {
      if (signal.aborted) return // the machine went off: whatever it did ends with it
      const reason = error instanceof Error ? error.message : String(error)
      this.#running = { kind: 'nothing', reason }
      this.say(`stopped: ${reason}`)
    }
  }

  #keep(work: Promise<void>): void {
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }
}
