import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { before, describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** Folders of `src`, lowest first; a file imports from its own folder and from lower rows. Folders of one row are strangers. */
const layers: readonly (readonly string[])[] = [
  ['lib'],
  ['lab'],
  ['errors', 'config'],
  ['domain'],
  ['objects'],
  ['db'],
  ['rpc'],
  ['notifications'],
  ['openstack', 'agent', 'images'],
  ['drivers', 'inspection'],
  ['conductor', 'networking', 'api'],
  ['cmd'],
]
/** Neighbours of one row that one of them may import. */
const neighbours: Readonly<Record<string, readonly string[]>> = {
  images: ['openstack'],
  inspection: ['drivers'],
}
/** Only these may know machines that do not exist. */
const knowsLab = ['cmd', 'lab']

interface Import {
  readonly file: string
  readonly target: string
  readonly line: number
  readonly typeOnly: boolean
}

interface Source {
  readonly file: string
  readonly text: string
  readonly lines: number
}

const rank = (folder: string) => layers.findIndex((row) => row.includes(folder))
/** `api/resources/nodes/fields.ts` is of the folder `api`. */
const folderOf = (file: string) => file.split('/')[0]!

async function sources(): Promise<Source[]> {
  const found: Source[] = []
  for await (const file of glob('src/**/*.ts', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8')
    found.push({ file: file.replace(/^src\//, ''), text, lines: text.trimEnd().split('\n').length })
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** Static imports and re-exports of files of this project. */
function importsOf({ file, text }: Source): Import[] {
  const pattern = /^\s*(import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
  return [...text.matchAll(pattern)].flatMap((match) => {
    const specifier = match[3]!.replace(/^#src\//, '@/')
    if (!specifier.startsWith('.') && !specifier.startsWith('@/')) return []
    const target = specifier.startsWith('@/') ? specifier.slice(2) : normalize(join(dirname(file), specifier))
    const line = text.slice(0, match.index).split('\n').length + 1
    return [{ file, target, line, typeOnly: match[2] !== undefined }]
  })
}

const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|[^:'"`])\/\/.*$/gm, '$1')

/** Lines of code that match, as `file:line`. */
function places(all: readonly Source[], pattern: RegExp): string[] {
  return all.flatMap(({ file, text }) =>
    withoutComments(text)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  )
}

describe('the architecture', () => {
  let all: Source[]
  let code: Source[]
  let imports: Import[]
  before(async () => {
    all = await sources()
    code = all.filter(({ file }) => !/\.test\.ts$|for-tests\.ts$/.test(file))
    imports = code.flatMap(importsOf)
    assert.ok(imports.length > 500, 'the pattern finds the imports')
  })

  it('has no folder that the layers do not name', () => {
    assert.deepEqual(
      [...new Set(code.map(({ file }) => folderOf(file)))].filter((folder) => rank(folder) < 0),
      [],
    )
  })

  it('imports downwards only', () => {
    const wrong = imports.filter(({ file, target }) => {
      const from = folderOf(file)
      const to = folderOf(target)
      if (from === to || neighbours[from]?.includes(to) === true) return false
      return rank(to) < 0 || rank(to) >= rank(from)
    })
    assert.deepEqual(
      wrong.map(({ file, line, target }) => `${file}:${line} imports ${target}`),
      [],
    )
  })

  it('keeps the lab out of the service, and the service out of the lab', () => {
    const wrong = imports.filter(({ file, target }) => {
      const from = folderOf(file)
      const to = folderOf(target)
      return (to === 'lab' && !knowsLab.includes(from)) || (from === 'lab' && !['lab', 'lib'].includes(to))
    })
    assert.deepEqual(
      wrong.map(({ file, line, target }) => `${file}:${line} imports ${target}`),
      [],
    )
  })

  it('imports no test support into the service', () => {
    const wrong = imports.filter(({ target }) => /\.test\.ts$|for-tests\.ts$/.test(target))
    assert.deepEqual(
      wrong.map(({ file, line, target }) => `${file}:${line} imports ${target}`),
      [],
    )
  })

  it('imports only files that exist, by their full name', () => {
    const known = new Set(all.map(({ file }) => file))
    const wrong = imports.filter(({ target }) => !known.has(target) && !target.endsWith('.json'))
    assert.deepEqual(
      wrong.map(({ file, line, target }) => `${file}:${line} imports ${target}`),
      [],
    )
  })

  it('has no cycle of imports', () => {
    assert.deepEqual(cycles(imports.filter((each) => !each.typeOnly)), [])
  })

  it('has no dynamic import', () => {
    assert.deepEqual(places(code, /\bimport\(|\brequire\(|createRequire/), [])
  })

  it('uses only syntax that Node can strip', () => {
    assert.deepEqual(
      places(all, /^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+\w|^\s*(?:export\s+)?namespace\s+\w/),
      [],
    )
  })

  it('never gives a text to a shell', () => {
    assert.deepEqual(
      places(code, /\{[^}]*\bexec(?:Sync)?\b[^}]*\} from 'node:child_process'|shell:\s*true|\beval\(|new Function\(/),
      [],
    )
  })

  it('reads the environment and the arguments in cmd alone', () => {
    const wrong = places(
      code.filter(({ file }) => !['cmd', 'lab'].includes(folderOf(file))),
      // What a child process needs to find programs may be handed on.
      /process\.(?:env(?!\['PATH'\])|argv|exit\b)/,
    )
    assert.deepEqual(wrong, [])
  })

  it('does nothing when a module is imported', () => {
    // A program starts only as the program itself.
    const started = code.filter(({ file, text }) => file.startsWith('cmd/') && text.startsWith('#!'))
    for (const { file, text } of started) assert.match(text, /^if \(import\.meta\.main\) /m, file)
    assert.deepEqual(places(code, /^(?:await|void) /), [])
  })

  it('has no file that nobody can keep in mind', () => {
    const long = code.filter(({ file, lines }) => lines > 450 && !tables.has(file))
    assert.deepEqual(
      long.map(({ file, lines }) => `${file}: ${lines} lines`),
      [],
    )
    const needless = [...tables].filter((file) => !code.some((each) => each.file === file && each.lines > 450))
    assert.deepEqual(needless, [], 'these are named here without need')
  })

  it('has no file named after nothing', () => {
    const vague = all.filter(({ file }) => /(?:^|\/)(?:utils?|helpers?|common|misc|types?)\.ts$/.test(file))
    assert.deepEqual(
      vague.map(({ file }) => file),
      [],
    )
  })
})

/** Tables may be long. */
const tables: ReadonlySet<string> = new Set([
  'api/policies.ts',
  'config/acted-upon-table.ts',
  'db/schema/tables.ts',
  'objects/releases.ts',
  'rpc/conductor.ts',
])

/** Groups of files that import each other in a circle (Tarjan). */
function cycles(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>()
  for (const { file, target } of imports) edges.set(file, [...(edges.get(file) ?? []), target])
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) {
        visit(next)
        low.set(file, Math.min(low.get(file)!, low.get(next)!))
      } else if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, index.get(next)!))
    }
    if (low.get(file) !== index.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1 || edges.get(file)?.includes(file) === true) found.push(circle.sort().join(' <-> '))
  }
  for (const file of edges.keys()) if (!index.has(file)) visit(file)
  return found
}
