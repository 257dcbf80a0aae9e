import { lstat, mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { withoutPassword } from '../../images/credentials.ts'
import { hashFile } from '../../images/checksums.ts'
import { rawFormats } from '../../images/format-inspector.ts'
import type { Images } from '../../images/images.ts'
import { isGlanceImage, isOciImage } from '../../images/reference.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { ImageRefValidationFailed } from '../../errors/image.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'
import { partitionLayout } from './disk-layout.ts'
import { imageDownloadSource } from './image-validation.ts'
import { dropInternal, internal } from './internal-info.ts'

/** The instance's image on this conductor, and the link by which the web server finds it. */
const imagePath = (config: Config, node: Node) => join(config.pxe.images_path, node.uuid!, 'disk')
const servedPath = (config: Config, node: Node) =>
  join(config.deploy.http_root, config.deploy.http_image_subdir, node.uuid!)

/**
 * Fills in `instance_info` what a deploy needs beside what the user gave: where the agent fetches the image, its format and
 * checksum there, whether it is a partition, and the layout of the disk. The image is looked at, and fetched where it is to be
 * served from here.
 * @throws ImageRefValidationFailed, InvalidImage, ImageChecksumError and others of the image; InvalidParameterValue
 */
export async function buildInstanceInfo(task: Task, images: Images): Promise<JsonDict> {
  const { node, config } = task
  dropInternal(node, 'image_source')
  const info: JsonDict = { ...node.instance_info, image_url: null }
  const source = String(info['image_source'])
  if (isGlanceImage(source) || isOciImage(source)) {
    throw new ImageRefValidationFailed({
      image_href: source,
      reason: 'this release deploys images from http(s):// and file:// only',
    })
  }
  const from = imageDownloadSource(node, config)
  if (from === 'local' || source.startsWith('file://')) Object.assign(info, await serveFromHere(task, images, info))
  else Object.assign(info, await fetchedByAgent(task, images, info, source))
  if (internal(node, 'is_whole_disk_image')) return { ...info, image_type: 'whole-disk' }
  return {
    ...info,
    image_type: 'partition',
    ...partitionLayout(node, config),
    image_source: info['image_source'] as unknown,
  }
}

/** The agent downloads from the source itself: it must answer, and where it redirects to is what the agent is told. */
async function fetchedByAgent(task: Task, images: Images, info: JsonDict, source: string): Promise<JsonDict> {
  const { conductor } = task.config
  const head = await images.servers.head(source, { signal: task.signal })
  const result: JsonDict = { image_url: source }
  // a password in the URL is not what a redirect is about
  if (head.url !== new URL(withoutPassword(source)).href) {
    result['image_source'] = head.url
    result['image_url'] = head.url
  }
  if (conductor.conductor_always_validates_images && !conductor.disable_deep_image_inspection) {
    const declared = typeof info['image_disk_format'] === 'string' ? info['image_disk_format'] : null
    const destination = imagePath(task.config, task.node)
    const signal = task.signal
    const { format } = await images.instances.fetch({
      href: source,
      destination,
      toRaw: false,
      format: declared,
      signal,
    })
    await rm(destination, { force: true })
    result['image_disk_format'] = format
  }
  return result
}

/** Fetches, checks and converts the image, and serves it under the node's id. */
async function serveFromHere(task: Task, images: Images, info: JsonDict): Promise<JsonDict> {
  const { node, config, signal } = task
  const toRaw = config.DEFAULT.force_raw_images && config.agent.stream_raw_images
  const declared = typeof info['image_disk_format'] === 'string' ? info['image_disk_format'] : null
  const checksum = await images.checksumFor(info, signal)
  const destination = imagePath(config, node)
  const href = String(info['image_source'])
  const { format } = await images.instances.fetch({ href, destination, toRaw, format: declared, checksum, signal })
  const served = toRaw ? 'raw' : format
  const result: JsonDict = { image_disk_format: served, image_url: await publish(config, node, destination, images) }
  const unchanged = declared === served || (declared !== null && rawFormats.has(declared) && rawFormats.has(served))
  let algorithm: unknown = info['image_os_hash_algo'] ?? null
  if (unchanged) {
    return {
      ...result,
      image_checksum: info['image_checksum'] ?? null,
      image_os_hash_algo: algorithm,
      image_os_hash_value: info['image_os_hash_value'] ?? null,
    }
  }
  // what is served is not what the checksum was given for
  if (typeof algorithm !== 'string' || algorithm === '' || algorithm.toLowerCase() === 'md5') algorithm = 'sha256'
  return {
    ...result,
    image_checksum: null,
    image_os_hash_algo: algorithm,
    image_os_hash_value: await hashFile(destination, String(algorithm), signal),
  }
}

async function publish(config: Config, node: Node, path: string, images: Images): Promise<string> {
  const base = config.deploy.http_url
  if (!base) {
    throw new InvalidParameterValue(
      `The image of node ${node.uuid} is to be served by this conductor, but [deploy]http_url is not set.`,
    )
  }
  const link = servedPath(config, node)
  await mkdir(dirname(link), { recursive: true, mode: 0o755 })
  await rm(link, { force: true })
  await symlink(path, link)
  const url = [base.replace(/\/+$/, ''), config.deploy.http_image_subdir, node.uuid].join('/')
  // the web server must be there and see the file before an agent is sent to it
  await images.servers.head(url)
  return url
}

/** Removes the instance's image and its link. */
export async function removeInstanceImage(config: Config, node: Node): Promise<void> {
  await rm(servedPath(config, node), { force: true })
  const folder = dirname(imagePath(config, node))
  try {
    await lstat(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(folder, { recursive: true, force: true })
}
