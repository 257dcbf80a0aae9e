import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent as HttpAgent } from 'undici'
import { runAgent } from './agent/agent.ts'
import { makeIdentity } from './agent/certificate.ts'
import type { AgentFaults } from './agent/faults.ts'
import type { ExtraStep } from './agent/steps.ts'
import { Bmc } from './bmc/bmc.ts'
import { sessionBmc } from './bmc/profile.ts'
import type { BmcProfile } from './bmc/profile.ts'
import { biosDefaults } from './bmc/service.ts'
import { systemPath } from './bmc/system.ts'
import { Disk } from './disk.ts'
import { findBoot } from './firmware.ts'
import { Machine } from './machine.ts'
import { realisticTimings } from './timings.ts'
import type { Timings } from './timings.ts'

export interface LabOptions {
  /** how many machines, each with a BMC of its own */
  readonly machines: number
  /** an empty folder of its own: disks, downloads */
  readonly directory: string
  /** first part of the machines' names; they go on with a number */
  readonly prefix?: string
  /** address that BMCs and agents listen on */
  readonly host?: string
  readonly timings?: Timings
  readonly profile?: BmcProfile
  /** null: BMCs without accounts */
  readonly account?: { readonly user: string; readonly password: string } | null
  /** BMCs speak HTTPS with a self-signed certificate */
  readonly tls?: boolean
  /** bytes; files are sparse */
  readonly diskSize?: number
  readonly mode?: 'UEFI' | 'Legacy'
  /** where DHCP would send iPXE; null when nobody answers */
  readonly networkBoot?: string | null
  /** steps that agents offer besides those of the real one */
  readonly extraSteps?: readonly ExtraStep[]
}

/** A machine with what belongs to it, and what a person enrolling it would be told. */
export interface LabMachine {
  readonly name: string
  readonly mac: string
  readonly machine: Machine
  readonly bmc: Bmc
  readonly agentFaults: AgentFaults
  /** `redfish_…` fields of driver_info, without a CA */
  readonly driverInfo: Readonly<Record<string, string>>
  /** PEM of the BMC's own certificate; null for plain HTTP */
  readonly bmcCertificate: string | null
}

export interface Lab {
  readonly machines: readonly LabMachine[]
  close(): Promise<void>
}

const gibibyte = 1024 ** 3

/** Starts machines, their BMCs on sockets and what runs on them. Nothing of it survives `close` but the disks' files. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const host = options.host ?? '127.0.0.1'
  const directories = { disks: join(options.directory, 'disks'), media: join(options.directory, 'media') }
  await Promise.all(Object.values(directories).map((path) => mkdir(path, { recursive: true, mode: 0o700 })))
  // Nobody verifies the certificate of an image server here: a machine that boots has no store of authorities.
  const http = new HttpAgent({ connect: { rejectUnauthorized: false }, keepAliveTimeout: 4000, headersTimeout: 60_000 })
  const tls = options.tls === true ? await makeIdentity('bmc', host) : undefined
  const machines: LabMachine[] = []
  for (let index = 0; index < options.machines; index++) {
    const lab = labMachine(options, { host, http, directories, index, ...(tls === undefined ? {} : { tls }) })
    await lab.bmc.start()
    machines.push({ ...lab, driverInfo: driverInfo(options, lab.bmc, lab.machine), bmcCertificate: tls?.cert ?? null })
  }
  return {
    machines,
    close: async () => {
      await Promise.all(machines.map(({ machine }) => machine.close()))
      await Promise.all(machines.map(({ bmc }) => bmc.close()))
      await http.close()
    },
  }
}

interface Surroundings {
  readonly host: string
  readonly http: HttpAgent
  readonly directories: { readonly disks: string; readonly media: string }
  readonly index: number
  readonly tls?: { readonly key: string; readonly cert: string }
}

function labMachine(options: LabOptions, around: Surroundings): Omit<LabMachine, 'driverInfo' | 'bmcCertificate'> {
  const { host, http, directories, index } = around
  const name = `${options.prefix ?? 'lab'}-${String(index + 1).padStart(String(options.machines).length, '0')}`
  const seed = createHash('sha256').update(name).digest('hex')
  const kind = createHash('sha256')
    .update(options.prefix ?? 'lab')
    .digest('hex')
  const number = index.toString(16).padStart(6, '0')
  const octets = ['52', '54', kind.slice(0, 2), number.slice(0, 2), number.slice(2, 4), number.slice(4, 6)]
  const mac = octets.join(':')
  const uuid = `${seed.slice(0, 8)}-${seed.slice(8, 12)}-4${seed.slice(13, 16)}-8${seed.slice(17, 20)}-${seed.slice(20, 32)}`
  const agentFaults: AgentFaults = {}
  const machine = new Machine({
    identity: {
      name,
      uuid,
      serial: seed.slice(0, 10).toUpperCase(),
      mac,
      address: `10.77.${(index >> 8) & 0xff}.${index & 0xff}`,
      cpus: 4,
      memoryMib: 8192,
    },
    disk: new Disk(join(directories.disks, `${name}.raw`), options.diskSize ?? 8 * gibibyte, `LAB${seed.slice(0, 8)}`),
    timings: options.timings ?? realisticTimings,
    mode: options.mode ?? 'UEFI',
    bios: biosDefaults,
    boots: {
      find: (booted, boot, signal) =>
        findBoot(
          { http, directory: directories.media, networkBoot: options.networkBoot ?? null },
          booted,
          boot,
          signal,
        ),
      runRamdisk: (booted, kernel, signal) =>
        runAgent(
          {
            machine: booted,
            kernel,
            http,
            host,
            directory: directories.media,
            extraSteps: options.extraSteps ?? [],
            faults: agentFaults,
          },
          signal,
        ),
    },
  })
  const account = options.account === undefined ? { user: 'admin', password: 'lab-password' } : options.account
  const bmc = new Bmc({
    machines: [machine],
    profile: options.profile ?? sessionBmc,
    accounts: account === null ? {} : { [account.user]: account.password },
    host,
    port: 0,
    ...(around.tls === undefined ? {} : { tls: around.tls }),
  })
  return { name, mac, machine, bmc, agentFaults }
}

function driverInfo(options: LabOptions, bmc: Bmc, machine: Machine): Record<string, string> {
  const account = options.account === undefined ? { user: 'admin', password: 'lab-password' } : options.account
  return {
    redfish_address: bmc.address,
    redfish_system_id: systemPath(machine),
    ...(account === null ? {} : { redfish_username: account.user, redfish_password: account.password }),
  }
}
