import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'
import { BootFiles } from '../../images/boot-files.ts'
import { Images } from '../../images/images.ts'
import { bmcPublisherSettings, Publisher } from '../../images/publisher.ts'
import type { DriverParts, Task } from '../task.ts'

/** Digests by their length in hexadecimal digits. */
const algorithms: Readonly<Record<number, string>> = { 40: 'sha1', 64: 'sha256', 128: 'sha512' }

/** Firmware files on their way to a BMC: passed by address, or fetched, checked and published. */
export class FirmwareFiles {
  private readonly parts: DriverParts
  private readonly files: BootFiles

  constructor(parts: DriverParts) {
    this.parts = parts
    this.files = new BootFiles(parts.config, parts.shared.of(Images, parts))
  }

  /**
   * The address to give to the BMC.
   * @param source `http`: the BMC fetches the file itself; `local`: we do
   * @throws InvalidParameterValue for `swift`; RedfishError when the checksum does not fit
   */
  async addressFor(
    task: Task,
    url: string,
    { source, checksum }: { source: string; checksum?: string | undefined },
  ): Promise<string> {
    const scheme = URL.parse(url)?.protocol.replace(':', '') ?? ''
    if (source === 'swift' || scheme === 'swift')
      throw new InvalidParameterValue(
        `The firmware file ${url} would go by Swift, which this release does not use; set [redfish]firmware_source to http or local.`,
      )
    if (source === 'http' && ['http', 'https'].includes(scheme)) return url
    const folder = await mkdtemp(join(task.config.DEFAULT.tempdir, 'ironic-firmware-'))
    try {
      const path = await this.files.at(url, join(folder, 'file'), task.signal)
      if (checksum !== undefined) await check(path, checksum, url)
      const own: unknown = task.node.driver_info?.['external_http_url']
      return await this.publisher().publishFile(
        stem(task),
        `-${fileName(url)}`,
        path,
        typeof own === 'string' ? own : null,
      )
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Takes what was published for the node away. */
  remove(task: Task): Promise<void> {
    return this.publisher().withdraw(stem(task))
  }

  private publisher(): Publisher {
    return new Publisher({ ...bmcPublisherSettings(this.parts.config), subfolder: 'firmware' })
  }
}

const stem = (task: Task): string => `firmware-${task.node.uuid}`

/** BMCs look at the end of the name. */
const fileName = (url: string): string =>
  (posix.basename(URL.parse(url)?.pathname ?? '') || 'firmware.bin')
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.+/, '_')

async function check(path: string, checksum: string, url: string): Promise<void> {
  const algorithm = algorithms[checksum.length]
  if (algorithm === undefined || !/^[0-9a-f]+$/i.test(checksum))
    throw new RedfishError({
      error: `the checksum of ${url} must be the SHA-1, SHA-256 or SHA-512 of the file in hexadecimal digits`,
    })
  const hash = createHash(algorithm)
  for await (const part of createReadStream(path)) hash.update(part as Buffer)
  if (hash.digest('hex') !== checksum.toLowerCase())
    throw new RedfishError({
      error: `the firmware file ${url} does not have the checksum ${checksum} (${algorithm}); it was not sent to the BMC`,
    })
}
