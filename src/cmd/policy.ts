#!/usr/bin/env node
import { policies } from '../api/policies.ts'
import { PolicyAuthorizer } from '../api/policy-authorizer.ts'
import { loadIronicConfig, type LoadedIronicConfig } from '../config/load.ts'
import type { RequestContext } from '../domain/context.ts'
import { parseCommandLine, type ArgumentRule } from '../lib/oslo-config/command-line.ts'
import { silentLogger, type Logger } from '../lib/oslo-log/logger.ts'
import { reach, reachTable, roles } from './policy/reach.ts'
import { samplePolicy } from './policy/sample.ts'
import { CommandFailure, runCommand } from './run-command.ts'

const program = 'ironic-policy'

/** The rules as this configuration and its policy files make them, whatever `auth_strategy` says. */
function openPolicy({ config, findFile }: LoadedIronicConfig, log: Logger): PolicyAuthorizer {
  return PolicyAuthorizer.open({
    config: { ...config, DEFAULT: { ...config.DEFAULT, auth_strategy: 'keystone' } },
    log,
    find: findFile,
  })
}

/** Problems of the operator's files belong on standard error, the table on standard output. */
const problemsOnStandardError: Logger = {
  ...silentLogger,
  warning: (message) => process.stderr.write(`${program}: ${message}\n`),
  error: (message) => process.stderr.write(`${program}: ${message}\n`),
}

const value = (spelling: string, help: string, apply: (text: string) => void): ArgumentRule => ({
  spellings: [spelling],
  takesValue: true,
  help,
  apply: (text) => apply(text ?? ''),
})

/** `list [--rule TEXT] [--json]`: what each role may do, on what. */
function list(loaded: LoadedIronicConfig, args: readonly string[]): number {
  let part = ''
  let asJson = false
  const rules: ArgumentRule[] = [
    value('--rule', 'only rules with this text in their name', (text) => (part = text)),
    { spellings: ['--json'], takesValue: false, help: 'print JSON', apply: () => (asJson = true) },
  ]
  parseCommandLine({ program: `${program} list`, rules }, args)
  const policy = openPolicy(loaded, problemsOnStandardError)
  const names = policy.ruleNames().filter((name) => name.includes(':') && name.includes(part))
  const rows = names.map((name) => reach((...asked) => policy.check(...asked), name))
  console.log(asJson ? JSON.stringify(rows, null, 2) : reachTable(rows))
  return 0
}

interface Asked {
  readonly roles: string[]
  scope: Partial<RequestContext>
  readonly target: Record<string, string>
}

/** `check --rule NAME --role ROLE… [--system | --project ID | --domain ID] [--owner ID] [--lessee ID]`: 0 allowed, 1 refused. */
function check(loaded: LoadedIronicConfig, args: readonly string[]): number {
  let rule = ''
  const asked: Asked = { roles: [], scope: {}, target: {} }
  const rules: ArgumentRule[] = [
    value('--rule', 'the rule that is asked', (text) => (rule = text)),
    value('--role', 'a role of the caller; may repeat; brings the roles that Keystone implies', (text) =>
      asked.roles.push(...(Object.hasOwn(roles, text) ? roles[text as keyof typeof roles] : [text])),
    ),
    {
      spellings: ['--system'],
      takesValue: false,
      help: 'a token of the system',
      apply: () => (asked.scope = { system_scope: 'all' }),
    },
    value('--project', 'a token of this project', (text) => (asked.scope = { project_id: text })),
    value('--domain', 'a token of this domain', (text) => (asked.scope = { domain_id: text })),
    value('--owner', 'the project that owns the node, allocation or runbook', (text) => {
      for (const kind of ['node', 'allocation', 'runbook']) asked.target[`${kind}.owner`] = text
    }),
    value('--lessee', 'the project that leases the node', (text) => (asked.target['node.lessee'] = text)),
  ]
  parseCommandLine({ program: `${program} check`, rules }, args)
  const policy = openPolicy(loaded, problemsOnStandardError)
  if (!policy.knows(rule)) throw new CommandFailure(`there is no rule "${rule}"; "${program} list" shows them.`)
  const context: RequestContext = { request_id: program, roles: asked.roles, ...asked.scope }
  const allowed = policy.check(context, rule, asked.target)
  console.log(`${allowed ? 'allowed' : 'refused'} by ${rule}: ${policy.ruleText(rule)}`)
  return allowed ? 0 : 1
}

const commands = {
  list,
  check,
  sample: (_loaded: LoadedIronicConfig, args: readonly string[]): number => {
    parseCommandLine({ program: `${program} sample`, rules: [] }, args)
    console.log(samplePolicy(policies))
    return 0
  },
}

/** Who may do what, by the rules of this release and the operator's policy files. */
function main(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const choices = Object.keys(commands)
  const loaded = loadIronicConfig({ program, args, env, command: { name: 'command', choices } })
  const [command, ...rest] = loaded.command
  return commands[command as keyof typeof commands](loaded, rest)
}

if (import.meta.main) await runCommand(program, async () => main(process.argv.slice(2), process.env))
