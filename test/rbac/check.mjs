#!/usr/bin/env node
// Who may do what: replays the recorded answers of a real Ironic 39.0.0 against any server.
import http from 'node:http'
import https from 'node:https'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const plan = JSON.parse(fs.readFileSync(path.join(here, 'plan.json'), 'utf8'))
const opt = {
  matrix: [],
  only: [],
  personas: [],
  variant: 'default',
  'keystone-port': '6920',
  timeout: '30',
  show: '40',
  'read-parallel': '6',
  stride: '1',
}
let base
const args = process.argv.slice(2)
while (args.length) {
  const a = args.shift()
  if (!a.startsWith('--')) {
    base = a.replace(/\/$/, '')
    continue
  }
  const k = a.slice(2)
  if (k === 'keystone-only' || k === 'no-setup' || k === 'strict' || k === 'help') opt[k] = true
  else if (Array.isArray(opt[k])) opt[k].push(args.shift())
  else opt[k] = args.shift()
}
if (opt.help || (!base && !opt.conf && !opt['keystone-only'])) {
  console.log(`usage: check.mjs BASE_URL [--variant NAME] [--matrix FILE]... [--only TEXT]... [--personas NAME]...
       [--keystone-port N] [--tokens FILE] [--no-setup] [--strict] [--record FILE] [--stride N] [--show N]
  check.mjs --conf VARIANT [--policy-file PATH] [--keystone-port N]    the server's configuration
  check.mjs --keystone-only [--keystone-port N]                        just the fake Keystone
variants: ${plan.variants.map((v) => v.name).join(', ')}`)
  process.exit(2)
}
const kport = Number(opt['keystone-port'])
const kurl = `http://127.0.0.1:${kport}/v3`

if (opt.conf) {
  const v = plan.variants.find((x) => x.name === opt.conf)
  const pf = opt['policy-file'] || 'rbac-policy.yaml'
  if (v.policy)
    fs.writeFileSync(
      pf,
      Object.entries(v.policy)
        .map(([k, x]) => `${JSON.stringify(k)}: ${JSON.stringify(x)}\n`)
        .join(''),
    )
  const auth = `auth_type = password\nauth_url = ${kurl}\nusername = ironic\npassword = secret\nproject_name = service\nuser_domain_name = Default\nproject_domain_name = Default\n`
  const conf = {
    DEFAULT: { auth_strategy: 'keystone', debug: false },
    conductor: { automated_clean: false, sync_power_state_interval: -1, workers_pool_size: 50 },
    sensor_data: { send_sensor_data: false },
  }
  for (const [g, o] of Object.entries(v.conf)) conf[g] = { ...conf[g], ...o }
  for (const [g, o] of Object.entries(conf))
    console.log(
      `[${g}]\n` +
        Object.entries(o)
          .map(([k, x]) => `${k} = ${x === '{policy_file}' ? path.resolve(pf) : x}`)
          .join('\n'),
    )
  console.log(`[keystone_authtoken]\n${auth}www_authenticate_uri = ${kurl}`)
  process.exit(0)
}

// ------------------------------------------------------------------ a Keystone that knows only the personas
const tokenOf = {}
for (const p of plan.personas) tokenOf[p.name] = p.scope === 'anonymous' ? undefined : 'token-' + p.name
const dom = { id: 'default', name: 'Default' }
function tokenBody(p) {
  const t = {
    methods: ['password'],
    audit_ids: ['rbac'],
    issued_at: '2026-01-01T00:00:00.000000Z',
    expires_at: '2099-01-01T00:00:00.000000Z',
    user: {
      id: Buffer.from(p.name).toString('hex').padEnd(32, '0').slice(0, 32),
      name: p.name,
      domain: dom,
      password_expires_at: null,
    },
  }
  const catalog = [
    {
      id: 'identity',
      type: 'identity',
      name: 'keystone',
      endpoints: ['public', 'internal', 'admin'].map((i) => ({
        id: i,
        interface: i,
        region: 'RegionOne',
        region_id: 'RegionOne',
        url: kurl,
      })),
    },
  ]
  if (p.scope === 'project') {
    const q = plan.projects[p.project]
    t.project = { id: q.id, name: q.name, domain: dom }
    t.is_domain = false
  }
  if (p.scope === 'domain') t.domain = dom
  if (p.scope === 'system') t.system = { all: true }
  if (p.scope !== 'none') {
    t.roles = p.roles.map((r) => ({ id: Buffer.from(r).toString('hex').padEnd(32, '0').slice(0, 32), name: r }))
    t.catalog = catalog
  }
  if (p.isAdminProject !== undefined) t.is_admin_project = p.isAdminProject
  return { token: t }
}
function fakeKeystone() {
  const own = {
    name: 'ironic',
    scope: 'project',
    project: 'service',
    roles: ['service', 'admin', 'manager', 'member', 'reader'],
  }
  const known = new Map([['token-own', own]])
  for (const p of plan.personas) if (p.scope !== 'anonymous' && p.scope !== 'invalid') known.set('token-' + p.name, p)
  const version = {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: kurl + '/' }],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
  }
  return http.createServer((req, res) => {
    req.resume()
    const send = (code, body, headers = {}) => {
      const s = JSON.stringify(body)
      res.writeHead(code, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(s),
        vary: 'X-Auth-Token',
        ...headers,
      })
      res.end(req.method === 'HEAD' ? undefined : s)
    }
    const p = new URL(req.url, kurl).pathname.replace(/\/$/, '')
    if (p === '') return send(300, { versions: { values: [version] } })
    if (p === '/v3') return send(200, { version })
    if (p === '/v3/auth/tokens' && req.method === 'POST')
      return send(201, tokenBody(own), { 'x-subject-token': 'token-own' })
    if (p === '/v3/auth/tokens') {
      if (req.headers['x-auth-token'] !== 'token-own')
        return send(401, { error: { code: 401, title: 'Unauthorized', message: 'no' } })
      const who = known.get(req.headers['x-subject-token'])
      if (!who) return send(404, { error: { code: 404, title: 'Not Found', message: 'no such token' } })
      return send(200, tokenBody(who), { 'x-subject-token': req.headers['x-subject-token'] })
    }
    if (p === '/v3/OS-REVOKE/events') return send(200, { events: [], links: {} })
    send(404, { error: { code: 404, title: 'Not Found', message: p } })
  })
}
let keystone
if (opt.tokens) {
  // tokens and project ids of a real Keystone: {"tokens": {persona: token}, "projects": {A: {"id","name"}}}
  const t = JSON.parse(fs.readFileSync(opt.tokens, 'utf8'))
  for (const k of Object.keys(tokenOf)) if (k !== 'badtoken') tokenOf[k] = t.tokens[k]
  for (const k of Object.keys(t.projects)) plan.projects[k] = t.projects[k]
} else {
  keystone = fakeKeystone()
  await new Promise((resolve, reject) => keystone.on('error', reject).listen(kport, '127.0.0.1', resolve))
  if (opt['keystone-only']) {
    console.log('fake Keystone on ' + kurl)
    await new Promise(() => {})
  }
}

// ------------------------------------------------------------------ requests
const values = { ...plan.objects, ...Object.fromEntries(['A', 'B', 'C'].map((k) => [k, plan.projects[k].id])) }
const fill = (s) => s.replace(/\{([a-z]+d?-[a-z0-9]+|[ABC])\}/g, (m, k) => values[k] ?? m)
const nameOf = Object.fromEntries(
  Object.entries(values)
    .filter(([k]) => k !== 'inst-1')
    .map(([k, v]) => [v, k]),
)
const lib = base.startsWith('https:') ? https : http
const agent = new lib.Agent({ keepAlive: true, maxSockets: 16 })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
function once(persona, m, p, b, v) {
  const url = new URL(base + encodeURI(fill(p)))
  const headers = { accept: 'application/json', 'x-openstack-ironic-api-version': v || plan.version }
  const who = plan.personas.find((x) => x.name === persona)
  if (tokenOf[persona]) headers['x-auth-token'] = tokenOf[persona]
  if (who.serviceToken) headers['x-service-token'] = tokenOf[who.serviceToken]
  const body = b === undefined ? undefined : fill(JSON.stringify(b))
  if (body !== undefined) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = Buffer.byteLength(body)
  }
  return new Promise((resolve, reject) => {
    const req = lib.request(url, { method: m, headers, agent, timeout: Number(opt.timeout) * 1000 }, (res) => {
      let s = ''
      res
        .setEncoding('utf8')
        .on('data', (d) => {
          s += d
        })
        .on('end', () => {
          let j
          try {
            j = JSON.parse(s)
          } catch {}
          resolve({ status: res.statusCode, text: s, body: j })
        })
    })
    req.on('timeout', () => req.destroy(new Error('timeout'))).on('error', reject)
    req.end(body)
  })
}
let requests = 0
async function ask(persona, m, p, b, v) {
  for (let n = 0; ; n++) {
    requests++
    let r
    try {
      r = await once(persona, m, p, b, v)
    } catch (e) {
      if (n < 2 && /ECONNRESET|hang up|EPIPE/.test(e.code + e.message)) continue
      return { status: 0, text: String(e) }
    }
    // a lock of a task still running is no answer about rights
    if ((r.status === 409 && /locked/.test(r.text)) || r.status === 503) {
      if (n < 100) {
        await sleep(100)
        continue
      }
    }
    return r
  }
}
async function until(w, pick) {
  const end = Date.now() + Number(opt.timeout) * 1000
  let last
  while (Date.now() < end) {
    last = (await ask('sys-admin', 'GET', w.path)).body?.[w.field]
    if (pick ? last === pick : w.is ? last === w.is : last !== w.not) return
    await sleep(60)
  }
  throw new Error(`${w.path} ${w.field} stays ${last}, wanted ${pick || w.is || 'not ' + w.not}`)
}
async function asAdmin(steps, what) {
  for (const s of steps) {
    if (s.wait?.before) await until(s.wait, s.wait.before)
    let r = await ask('sys-admin', s.m, s.p, s.b)
    if (r.status >= 300 && s.orAs) r = await ask(s.orAs, s.m, s.p, s.b)
    if (r.status >= 300 || r.status === 0) {
      console.log(`${what}: ${s.m} ${s.p} answered ${r.status} ${r.text.slice(0, 300)}`)
      if (what === 'set-up') process.exitCode = 1
    }
    if (s.wait) await until(s.wait)
  }
}

// ------------------------------------------------------------------ reading the answers
const texts = {}
let recording = Boolean(opt.record)
const NODE = [
  'driver_info',
  'instance_info',
  'driver_internal_info',
  'last_error',
  'reservation',
  'description',
  'maintenance_reason',
  'fault',
  'owner',
  'lessee',
]
function cls(field, v, loose) {
  if (v === undefined) return '-'
  const s = typeof v === 'string' ? v : v && typeof v === 'object' ? Object.values(v)[0] : undefined
  if (typeof s === 'string' && s.startsWith('** ')) {
    const all = JSON.stringify(v)
    if (recording) texts[field] ??= all
    return texts[field] === all ? 'R' : 'R!'
  }
  if (loose && (field === 'last_error' || field === 'reservation')) return 'v'
  if (v === null) return 'n'
  if (field === 'driver_internal_info') return 'v'
  if (typeof v === 'object') {
    const m = Object.keys(v)
      .filter((k) => v[k] === '******')
      .sort()
    return m.length ? 'v*' + m.join('+') : 'v'
  }
  return 'v'
}
const who = (v) => (v === undefined ? '-' : v === null ? 'n' : nameOf[v] || 'v')
const nodeRed = (n, loose) =>
  NODE.map((f) => (f === 'owner' || f === 'lessee' ? who(n[f]) : cls(f, n[f], loose))).join('|')
function digest(op, r) {
  const s = String(r.status)
  if (r.status >= 300 || r.status === 0 || op.dig === 'status') return s
  const b = r.body
  if (!b || typeof b !== 'object') return s + ' no-json'
  if (op.dig === 'node') return s + ' ' + nodeRed(b)
  if (op.dig === 'patch')
    return (
      s +
      ' ' +
      ['driver_info', 'instance_info', 'driver_internal_info', 'last_error', 'reservation']
        .map((f) => cls(f, b[f], true).slice(0, 1))
        .join('|')
    )
  if (op.dig === 'created')
    return (
      s +
      ' owner=' +
      who(b.owner) +
      (b.lessee !== undefined ? ' lessee=' + who(b.lessee) : '') +
      (b.driver_info
        ? ' ' +
          ['driver_info', 'instance_info', 'driver_internal_info', 'last_error', 'reservation']
            .map((f) => cls(f, b[f], true))
            .join('|')
        : '')
    )
  if (op.dig === 'show')
    return (
      s +
      (b.owner !== undefined ? ' owner=' + who(b.owner) : '') +
      (b.properties ? ' properties=' + cls('properties', b.properties) : '')
    )
  const arr = Object.values(b).find(Array.isArray) || []
  if (op.dig === 'count') return s + ' items=' + arr.length
  if (op.dig === 'shards')
    return (
      s +
      ' ' +
      arr
        .map((x) => x.name + ':' + x.count)
        .sort()
        .join(',')
    )
  if (op.dig === 'list') {
    const names = arr.map((x) => nameOf[x.uuid ?? x] || x.name || '?')
    const ordered = /limit=/.test(op.p) ? names : [...names].sort()
    let out = s + ' [' + ordered.join(',') + ']'
    const reds = arr
      .map((x, i) => [
        names[i],
        typeof x !== 'object'
          ? ''
          : NODE.slice(0, 5).some((f) => f in x)
            ? nodeRed(x)
            : x.properties && /targets/.test(op.p)
              ? cls('properties', x.properties)
              : '',
      ])
      .filter((x) => x[1])
      .sort((a, b) => (a[0] < b[0] ? -1 : 1))
    const groups = new Map()
    for (const [n, t] of reds) groups.set(t, [...(groups.get(t) || []), n])
    if (groups.size === 1) out += ' all=' + [...groups.keys()][0]
    else for (const [t, n] of groups) out += ` ${n.join('+')}=${t}`
    return out
  }
  return s
}

// ------------------------------------------------------------------ the expected answers
const vi = plan.variants.findIndex((v) => v.name === opt.variant)
if (vi < 0) throw new Error('no variant ' + opt.variant)
const expected = new Map() // op -> [outcome or null per persona]
if (!recording || opt.matrix.length) {
  recording = false
  if (!opt.matrix.length) opt.matrix.push(path.join(here, 'matrix.json'))
  for (const f of opt.matrix) {
    const m = JSON.parse(fs.readFileSync(f, 'utf8'))
    Object.assign(texts, m.texts)
    for (const [o, v, list] of m.rows) {
      if (v !== vi) continue
      const have = expected.get(o) || []
      list.forEach((x, i) => {
        if (x >= 0) have[i] = m.outcomes[x]
      })
      expected.set(o, have)
    }
  }
}
// when recording: which probes to make (--core NAMES, --core-reads N, --core-writes N, --rest N: one of N)
const core = opt.core ? opt.core.split(',') : plan.personas.map((p) => p.name)
const mix = (n) => {
  let x = (n + 0x9e3779b9) | 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
const always = opt.always ? new RegExp(opt.always) : undefined
function picked(op, i) {
  if (!core.includes(plan.personas[i].name)) return mix(op.i * 64 + i + vi * 100003) % Number(opt.rest || 1) === 0
  if (always?.test(`${op.m} ${op.p} ${op.body || ''}`)) return true
  return mix(op.i + vi * 7919) % Number(opt[op.i < plan.reads ? 'core-reads' : 'core-writes'] || 1) === 0
}
const wanted = (op, i) => {
  const p = plan.personas[i]
  if (opt.personas.length && !opt.personas.includes(p.name)) return false
  if (opt.tokens && p.scope !== 'anonymous' && !tokenOf[p.name]) return false
  if (opt.ops && !opt.ops.split(',').includes(String(op.i))) return false
  if (opt.only.length && !opt.only.some((t) => `${op.m} ${op.p} ${op.body || ''}`.includes(t))) return false
  if (recording) return picked(op, i)
  return expected.get(op.i)?.[i] !== undefined
}

// ------------------------------------------------------------------ go
const started = Date.now()
if (!opt['no-setup']) await asAdmin(plan.setup, 'set-up')
console.log(`set-up took ${((Date.now() - started) / 1000).toFixed(1)} s`)
const results = {}
let passed = 0
let failed = 0
let saved = 0
const save = () => fs.writeFileSync(opt.record, JSON.stringify({ variant: vi, texts, results }))
// The real server answers 500 where a rule does not take the scope of the token, and in a few other faults of its own: a
// refusal is as good there; operations marked fault may be answered in any sane way (--strict: neither)
let better = 0
function same(op, want, got) {
  if (got === want) return true
  if (opt.strict) return false
  const ok = op.fault ? /^(2|500)/.test(want) && /^[24]/.test(got) : want === '500' && /^4\d\d$/.test(got)
  if (ok) better++
  return ok
}
async function probe(op) {
  if (recording && ++saved % 25 === 0) save()
  for (let i = 0; i < plan.personas.length; i++) {
    if (!wanted(op, i)) continue
    const name = plan.personas[i].name
    const r = await ask(name, op.m, op.p, op.b, op.v)
    const got = digest(op, r)
    if (recording) (results[op.i] ??= [])[i] = got
    else if (same(op, expected.get(op.i)[i], got)) passed++
    else if (++failed <= Number(opt.show))
      console.log(
        `${name}: ${op.m} ${op.p}${op.body ? ' (' + op.body + ')' : ''}${op.v ? ' @' + op.v : ''}\n   wanted ${expected.get(op.i)[i]}\n   got    ${got}`,
      )
    if (r.status >= 200 && r.status < 300 && op.undo)
      await asAdmin(op.undo, `undo of ${op.m} ${op.p} (${op.body || ''}) by ${name}`)
  }
}
const chosen = plan.ops.filter((op) => op.i % Number(opt.stride) === 0 || Number(opt.stride) === 1)
const reads = chosen.filter((op) => op.i < plan.reads)
await Promise.all(
  Array.from({ length: Number(opt['read-parallel']) }, async () => {
    while (reads.length) await probe(reads.shift())
  }),
)
console.log(`reads done after ${((Date.now() - started) / 1000).toFixed(1)} s, ${requests} requests`)
for (const op of chosen) if (op.i >= plan.reads) await probe(op)
console.log(`all done after ${((Date.now() - started) / 1000).toFixed(1)} s, ${requests} requests`)
if (recording) save()
else {
  if (better) console.log(`${better} of the passed answer better than the real server, whose fault is not to be copied`)
  console.log(`${passed} passed, ${failed} failed`)
}
if (failed) process.exitCode = 1
agent.destroy()
keystone?.close()
keystone?.closeAllConnections()
