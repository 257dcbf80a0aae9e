import type { Config } from '../config/index.ts'
import type { Images } from '../images/images.ts'
import { RemoteImages } from '../images/remote-images.ts'
import type { ConductorTask } from './conductor-task.ts'
import type { TaskParts } from './tasks.ts'

type MediaHooks = Required<Pick<TaskParts, 'publishMedia' | 'unpublishMedia'>>

/** Images that users attach to nodes as virtual media. */
export function publishedMedia(config: Config, images: Images): MediaHooks {
  const remote = new RemoteImages(config, images)
  const stemOf = (task: ConductorTask, deviceType: string) => `${deviceType.toLowerCase()}-${task.node.uuid}`
  return {
    async publishMedia(task, deviceType, href, source) {
      const own: unknown = task.node.driver_info?.['external_http_url']
      const stem = stemOf(task, deviceType)
      await remote.remove(stem)
      return await remote.addressFor({
        href,
        stem,
        extension: deviceType === 'cdrom' ? '.iso' : '.img',
        source,
        externalUrl: typeof own === 'string' && own !== '' ? own : null,
        signal: task.signal,
      })
    },
    unpublishMedia: (task, deviceType) => remote.remove(stemOf(task, deviceType)),
  }
}
