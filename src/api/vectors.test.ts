/** Readers, checks and patches against what real Ironic's functions answered. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { networkDataProblem } from '../domain/network-data.ts'
import { isTrait } from '../domain/traits.ts'
import { IronicError } from '../errors/define.ts'
import { PatchFailure, type PatchOperation } from '../lib/json-patch/apply.ts'
import { maskMembers, maskText } from '../lib/secrets/mask.ts'
import { isBooleanWord, readBoolean } from '../lib/text/booleans.ts'
import { isHostnameSafe, isLogicalName, normalDatapathId, normalMac } from '../lib/text/names.ts'
import { isUuidLike } from '../lib/text/uuid.ts'
import { isPathRemoved, isPathUpdated, PatchBody, patched, patchValues } from './bodies.ts'
import { limitOf, sortDirOf } from './listing.ts'
import { DeployStep, RunbookStep } from './resources/nodes/provision.ts'
import { LocalLink } from './resources/ports/link.ts'
import { testConfig } from '../config/for-tests.ts'
import {
  Flag,
  HostPort,
  Integer,
  MacAddress,
  Name,
  nullable,
  Text,
  TextList,
  Uuid,
  UuidOrName,
  type Members,
  type Value,
} from './values.ts'

interface Given {
  readonly fn: string
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the function took
  readonly args: any[]
  readonly max_limit: number
}
interface Case {
  readonly in: Given
  readonly out?: unknown
  readonly error?: string
}
const cases = JSON.parse(
  readFileSync(new URL('../../test/vectors/utils.json', import.meta.url), 'utf8'),
) as readonly Case[]

/** Refused here, though regular expressions let it slip through there. */
const stricter = /\\n"\]|\\n","value"|ſ|ı|\[::1\]x|"\\\\1"/

class Refused extends Error {}
const refuse = (): never => {
  throw new Refused()
}
const read =
  (value: Value<unknown>) =>
  ([given]: unknown[]): unknown =>
    given === null || given === undefined ? null : value.read('it', given)

/** What a typed caller never gives: other operations, and documents that are no objects. */
const impossible = ({ fn, args }: Given): boolean =>
  (fn === 'apply_patch' &&
    (args[1] as { op: string }[]).some(({ op }) => op === 'test' || op === 'move' || op === 'copy')) ||
  (fn === 'mask_dict_password' && (typeof args[0] !== 'object' || args[0] === null))

const functions: Readonly<Record<string, (args: Given['args'], given: Given) => unknown>> = {
  bool_strict: ([text]) => readBoolean(text) ?? refuse(),
  is_valid_boolstr: ([text]) => isBooleanWord(text),
  arg_boolean: read(Flag),
  is_uuid_like: ([text]) => isUuidLike(text),
  arg_uuid: read(Uuid),
  is_hostname_safe: ([text]) => isHostnameSafe(text),
  is_valid_logical_name: ([text]) => isLogicalName(text),
  arg_name: read(Name),
  arg_uuid_or_name: read(UuidOrName),
  validate_and_normalize_mac: ([text]) => normalMac(text) ?? refuse(),
  arg_mac_address: read(MacAddress),
  validate_and_normalize_datapath_id: ([text]) => normalDatapathId(text) ?? refuse(),
  arg_integer: read(Integer),
  arg_string_list: read(TextList),
  arg_string: read(Text),
  arg_host_port: read(HostPort),
  trait: ([name]) => (name === null || isTrait(name) ? (name as unknown) : refuse()),
  local_link: read(LocalLink),
  deploy_step: read(DeployStep),
  runbook_step: read(nullable(RunbookStep)),
  network_data: ([value]) => (networkDataProblem(value) === null ? null : refuse()),
  apply_patch: ([document, patch]) => patched(document as Members, patch as PatchOperation[]),
  patch_schema: ([patch]) => PatchBody.read('patch', patch),
  is_path_removed: ([patch, path]) => isPathRemoved(patch as PatchOperation[], path as string),
  is_path_updated: ([patch, path]) => isPathUpdated(patch as PatchOperation[], path as string),
  get_patch_values: ([patch, path]) => patchValues(patch as PatchOperation[], path as string),
  mask_password: ([text]) => maskText(text as string),
  mask_password_with: ([text, mask]) => maskText(text as string, mask as string),
  mask_dict_password: ([document]) => maskMembers(document as Members, '******'),
  validate_limit: ([limit], { max_limit }) =>
    limitOf((limit as number | null) ?? undefined, testConfig({ api: { max_limit } })),
  validate_sort_dir: ([direction]) => sortDirOf(direction as string),
}

for (const [name, run] of Object.entries(functions)) {
  test(`${name} answers as real Ironic's`, () => {
    const own = cases.filter(({ in: { fn } }) => fn === name)
    assert.notEqual(own.length, 0)
    const wrong: string[] = []
    for (const one of own) {
      const label = JSON.stringify(one)
      if (stricter.test(label) || impossible(one.in)) continue
      let got: unknown
      try {
        got = run(one.in.args, one.in)
      } catch (error) {
        const refused = error instanceof Refused || error instanceof IronicError || error instanceof PatchFailure
        if (!refused) throw error
        if (one.error === undefined) wrong.push(`${label}: refused`)
        continue
      }
      if (one.error !== undefined) wrong.push(`${label}: got ${JSON.stringify(got)}`)
      else {
        try {
          assert.deepEqual(got, one.out)
        } catch {
          wrong.push(`${label}: got ${JSON.stringify(got)}`)
        }
      }
    }
    assert.deepEqual(wrong, [])
  })
}
