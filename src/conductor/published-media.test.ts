import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { FakeManagement } from '../drivers/fake/management.ts'
import { interfaces as fake } from '../drivers/fake/index.ts'
import { mergeFamilies } from '../drivers/interface-classes.ts'
import { interfaces as noop } from '../drivers/noop/index.ts'
import { createTestNode, startTestConductor, testContext } from './for-tests.ts'

const attached: string[] = []
class MediaManagement extends FakeManagement {
  override async attachVirtualMedia(_task: unknown, type: string, url: string): Promise<void> {
    if (type === 'floppy') throw new Error('the BMC refuses it')
    attached.push(`${type} ${url}`)
  }
  override async detachVirtualMedia(): Promise<void> {}
}

/** A server of images, and a conductor with folders of its own. */
async function bench(work: (bench: { images: string; published: string; conductor: Conductor }) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'media-'))
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/gone.iso' ? 404 : 200).end('an image')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await using conductor = await startTestConductor({
      config: {
        deploy: {
          http_root: join(folder, 'http'),
          http_url: 'http://192.0.2.1:8080',
          iso_master_path: join(folder, 'isos'),
        },
      },
      interfaces: mergeFamilies([{ ...fake, management: { fake: MediaManagement } }, noop]),
    })
    attached.length = 0
    const images = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await work({ images, published: join(folder, 'http', 'redfish'), conductor })
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true })
  }
}
type Conductor = Awaited<ReturnType<typeof startTestConductor>>

describe('media that users attach', () => {
  it('are fetched, published under a name that cannot be guessed, and taken away when detached', () =>
    bench(async ({ images, published, conductor }) => {
      const uuid = (await createTestNode(conductor)).uuid!
      const attach = async (image: string, source?: 'http' | 'local') => {
        await conductor.rpc.attach_virtual_media(testContext, {
          node_id: uuid,
          device_type: 'cdrom',
          image_url: `${images}/${image}`,
          ...(source !== undefined && { image_download_source: source }),
        })
        await conductor.settled()
      }
      await attach('a.iso')
      const [name] = await readdir(published)
      assert.match(name!, new RegExp(`^cdrom-${uuid}-[\\w-]{22}\\.iso$`))
      assert.equal(await readFile(join(published, name!), 'utf8'), 'an image')
      assert.deepEqual(attached, [`cdrom http://192.0.2.1:8080/redfish/${name}`])

      await attach('b.iso')
      assert.equal((await readdir(published)).length, 1, 'the former image goes')
      await conductor.rpc.detach_virtual_media(testContext, { node_id: uuid, device_types: ['cdrom'] })
      await conductor.settled()
      assert.deepEqual(await readdir(published), [])

      await attach('c.iso', 'http')
      assert.equal(attached.at(-1), `cdrom ${images}/c.iso`)
      assert.deepEqual(await readdir(published), [])
      assert.equal((await conductor.node(uuid)).last_error, null)
    }))

  it('leave nothing behind when they cannot be fetched or attached, and tell why', () =>
    bench(async ({ images, published, conductor }) => {
      const uuid = (await createTestNode(conductor)).uuid!
      await conductor.rpc.attach_virtual_media(testContext, {
        node_id: uuid,
        device_type: 'cdrom',
        image_url: `${images}/gone.iso`,
        image_download_source: 'local',
      })
      await conductor.settled()
      assert.match(String((await conductor.node(uuid)).last_error), /attach a cdrom.*404/)
      assert.deepEqual(attached, [])

      await conductor.rpc.attach_virtual_media(testContext, {
        node_id: uuid,
        device_type: 'floppy',
        image_url: `${images}/a.img`,
        image_download_source: 'local',
      })
      await conductor.settled()
      assert.match(String((await conductor.node(uuid)).last_error), /the BMC refuses it/)
      assert.deepEqual(
        (await readdir(published)).filter((name) => !name.startsWith('.')),
        [],
      )
    }))
})
