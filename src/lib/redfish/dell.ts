import type { Waiter } from './client.ts'
import type { ManagerResource } from './computer-system.ts'
import { ActionMissing, BmcRefused, PropertyMissing, TaskProblem } from './problems.ts'
import { isObject, type JsonObject, link, text } from './shape.ts'
import { lookAtTask, taskUri } from './task.ts'

/*
 * What iDRACs have beside the standard (Dell OEM extensions of Manager). Messages by their ids in the Dell message registry.
 */

/** `LC068`: a configuration job waits for a restart. `RAC0679`: another import runs. */
const jobs = { pending: 'LC068', running: 'RAC0679' } as const
const importing = { attempts: 35, pauseMs: 15_000, lookMs: 1000, limitMs: 10 * 60_000 } as const

const oemLink = (manager: ManagerResource, service: string): string => {
  const links = manager.json['Links']
  const oem = isObject(links) ? links['Oem'] : undefined
  const dell = isObject(oem) ? oem['Dell'] : undefined
  const path = isObject(dell) ? link(dell[service]) : undefined
  if (path === undefined) throw new PropertyMissing(`Links/Oem/Dell/${service}`, manager.path)
  return path
}

/** Where an action of a service of the iDRAC is posted to. */
async function actionOf(manager: ManagerResource, service: string, action: string): Promise<string> {
  const { bmc } = manager
  const path = oemLink(manager, service)
  const { body } = await bmc.client.call('GET', path, { signal: bmc.signal })
  const actions = isObject(body) ? body['Actions'] : undefined
  const found = isObject(actions) ? actions[action] : undefined
  const target = isObject(found) ? text(found['target']) : undefined
  if (target === undefined) throw new ActionMissing(action, path)
  return target
}

const post = (manager: ManagerResource, path: string, body: JsonObject) =>
  manager.bmc.client.call('POST', path, { body, signal: manager.bmc.signal })

/** Empties the job queue of the Lifecycle Controller. */
export async function clearJobQueue(manager: ManagerResource): Promise<void> {
  const target = await actionOf(manager, 'DellJobService', '#DellJobService.DeleteJobQueue')
  await post(manager, target, { JobID: 'JID_CLEARALL' })
}

/** Restarts the iDRAC; it is away for minutes afterwards. */
export async function resetIdrac(manager: ManagerResource): Promise<void> {
  const target = await actionOf(manager, 'DelliDRACCardService', '#DelliDRACCardService.iDRACReset')
  await manager.bmc.client.call('POST', target, {
    body: { Force: 'Graceful' },
    signal: manager.bmc.signal,
    repeatable: false,
  })
}

/** Is the iDRAC (`LCStatus`), or its real-time storage configuration (`RTStatus`), ready? */
export async function isReady(manager: ManagerResource, status: 'LCStatus' | 'RTStatus'): Promise<boolean> {
  const target = await actionOf(manager, 'DellLCService', '#DellLCService.GetRemoteServicesAPIStatus')
  const { body } = await post(manager, target, {})
  return isObject(body) && body[status] === 'Ready'
}

/**
 * Makes the machine boot from a virtual CD or floppy. iDRACs take this by an import of settings only.
 * @param restart is called once when a job waits for a restart
 */
export async function setVirtualBootDevice(
  manager: ManagerResource,
  device: 'VCD-DVD' | 'VFDD',
  persistent: boolean,
  { waiter, restart }: { waiter: Waiter; restart: () => Promise<void> },
): Promise<void> {
  const target = importTarget(manager)
  const once = persistent ? 'Disabled' : 'Enabled'
  const body = {
    ShareParameters: { Target: ['ALL'] },
    // the import fails at white space between the elements
    ImportBuffer: `<SystemConfiguration><Component FQDD="${attribute(manager.id)}"><Attribute Name="ServerBoot.1#BootOnce">${once}</Attribute><Attribute Name="ServerBoot.1#FirstBootDevice">${device}</Attribute></Component></SystemConfiguration>`,
  }
  let restarted = false
  for (let left: number = importing.attempts; ; left--) {
    try {
      const answer = await post(manager, target, body)
      if (answer.status === 202) await finished(manager, taskUri(answer, target), waiter)
      return
    } catch (error) {
      const waits = error instanceof BmcRefused && error.words.includes(jobs.pending)
      const busy = error instanceof BmcRefused && error.words.includes(jobs.running)
      if (left <= 0 || (!waits && !busy)) throw error
      if (waits && !restarted) {
        restarted = true
        await restart()
      } else await waiter.sleep(importing.pauseMs, manager.bmc.signal)
    }
  }
}

function importTarget(manager: ManagerResource): string {
  const actions = manager.json['Actions']
  const oem = isObject(actions) ? actions['Oem'] : undefined
  const places = [actions, oem].filter(isObject)
  for (const place of places) {
    const name = Object.keys(place).find((key) => key.endsWith('#OemManager.ImportSystemConfiguration'))
    const found = name === undefined ? undefined : place[name]
    const target = isObject(found) ? text(found['target']) : undefined
    if (target !== undefined) return target
  }
  throw new ActionMissing('#OemManager.ImportSystemConfiguration', manager.path)
}

async function finished(manager: ManagerResource, uri: string, waiter: Waiter): Promise<void> {
  const deadline = waiter.now().getTime() + importing.limitMs
  for (;;) {
    const report = await lookAtTask(manager.bmc, uri)
    if (report.outcome === 'failed')
      throw new TaskProblem(`The import of settings failed: ${report.messages.join(' ')}`)
    if (report.outcome !== 'running') return
    if (waiter.now().getTime() > deadline)
      throw new TaskProblem(`The import of settings did not end within ${importing.limitMs / 60_000} minutes`)
    await waiter.sleep(importing.lookMs, manager.bmc.signal)
  }
}

const attribute = (value: string): string => value.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
