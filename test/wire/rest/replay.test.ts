/** Conversations that were recorded with real Ironic 39.0.0, held with this service. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Conversation } from './conversation.ts'
import { loadExceptions, loadScenarios } from './scenario.ts'
import { basicUser, lacking, startRecordedService, type ServerKind } from './service.ts'

const here = import.meta.dirname

for (const kind of ['noauth', 'http_basic'] satisfies ServerKind[]) {
  test(`recorded conversations, ${kind}`, async (t) => {
    const scenarios = await loadScenarios(join(here, 'scenarios'))
    const exceptions = await loadExceptions(join(here, 'except.txt'))
    await using service = await startRecordedService(kind)
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const credentials = kind === 'http_basic' ? { credentials: `${basicUser.name}:${basicUser.password}` } : {}
    for (const [id, scenario] of scenarios) {
      if ((scenario.server ?? 'noauth') !== kind) continue
      const lacks = lacking(id)
      await t.test(id, { skip: lacks !== undefined && `needs ${lacks}` }, async (t) => {
        const results = await new Conversation(scenario, { ...service, agent, ...credentials }).hold()
        const failed: string[] = []
        for (const [index, { step, unlike }] of results.entries()) {
          const name = `${id} #${index + 1}`
          const excepted = exceptions.has(name) || lacking(name) !== undefined
          if (unlike.length === 0 && excepted) t.diagnostic(`${name} is listed as an exception, but is as recorded`)
          if (unlike.length === 0 || excepted) continue
          failed.push([`${name} ${step.method} ${step.path} (${step.name ?? ''})`, ...unlike].join('\n  '))
        }
        assert.equal(failed.length, 0, `${failed.length} of ${results.length} steps differ:\n${failed.join('\n')}`)
      })
    }
  })
}
