import { isGlanceImage, isOciImage } from './reference.ts'

export const imageTypes = ['partition', 'whole-disk'] as const

/**
 * Is the image of this `instance_info` a whole disk or one partition? Told by `image_type`; otherwise an image with its own
 * kernel or ramdisk is a partition.
 * @param glanceProperties properties of a Glance image (`img_type`, `kernel_id`, `ramdisk_id`); undefined when they cannot be had
 * @returns null when there is no image, or nothing is known of it
 */
export function isWholeDiskImage(
  instanceInfo: Readonly<Record<string, unknown>>,
  glanceProperties?: Readonly<Record<string, unknown>>,
): boolean | null {
  const source = instanceInfo['image_source']
  if (typeof source !== 'string' || source === '') return null
  const type = instanceInfo['image_type']
  if (type) return type !== 'partition'
  if (isOciImage(source)) return true
  if (isGlanceImage(source)) {
    if (glanceProperties === undefined) return null
    if (glanceProperties['img_type']) return glanceProperties['img_type'] !== 'partition'
    return !glanceProperties['kernel_id'] && !glanceProperties['ramdisk_id']
  }
  return !instanceInfo['kernel'] && !instanceInfo['ramdisk']
}
