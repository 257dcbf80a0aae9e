import { HardwareInspectionFailure } from '../../errors/index.ts'
import type { InspectionHook } from './hook.ts'
import { wholeNumber } from './properties.ts'

/** Fails the inspection with the error that the ramdisk reported. */
export const ramdiskError: InspectionHook = {
  name: 'ramdisk-error',
  preprocess({ task, pluginData }) {
    const error: unknown = pluginData.error
    const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0)
    if (!isEmpty)
      throw new HardwareInspectionFailure(
        `The ramdisk of node ${task.node.uuid} reported: ${typeof error === 'string' ? error : JSON.stringify(error)}`,
      )
  },
}

const itemSize = 4

/** hardware-detect's lists `[class, device, attribute, value]`, as `extra` of the plugin data: class, device, attribute. */
export const extraHardware: InspectionHook = {
  name: 'extra-hardware',
  run({ task, pluginData }) {
    if (!('data' in pluginData)) return task.log.warning(`No extra hardware data came for node ${task.node.uuid}`)
    const data: unknown = pluginData.data
    const strict = task.config.inspector.extra_hardware_strict
    const isItem = (item: unknown): item is unknown[] => Array.isArray(item) && (!strict || item.length === itemSize)
    if (!Array.isArray(data) || !data.every(isItem)) {
      task.log.warning(`The extra hardware data of node ${task.node.uuid} is not a list of lists`)
      if (strict) delete pluginData.data
      return
    }
    const extra: Record<string, Record<string, Record<string, unknown>>> = {}
    const usable = (key: unknown): key is string | number | boolean | null => typeof key !== 'object' || key === null
    for (const item of data) {
      const [group, device, attribute, value] = item
      if (item.length === 0 || !usable(group)) continue
      const devices = (extra[String(group)] ??= {})
      if (item.length < 2 || !usable(device)) continue
      const attributes = (devices[String(device)] ??= {})
      if (item.length < itemSize || !usable(attribute)) continue
      attributes[String(attribute)] = wholeNumber(value) ?? value
    }
    pluginData.extra = extra
    delete pluginData.data
  },
}
