/** Certificates for servers of tests. */
import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { needPackages } from './debian.ts'

const run = promisify(execFile)

/** A certificate that signs itself, for one name or address; PEM. */
export async function selfSigned(name: string): Promise<{ key: string; cert: string }> {
  await needPackages(['openssl'])
  const names = `subjectAltName=${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`
  const options = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  ]
  const { stdout } = await run('openssl', ['req', '-x509', ...options, '-addext', names, '-keyout', '-', '-out', '-'])
  const parts = stdout.match(/-----BEGIN [A-Z ]+-----[\s\S]+?-----END [A-Z ]+-----\n/g) ?? []
  const part = (kind: string) => parts.find((each) => each.includes(`BEGIN ${kind}`)) ?? ''
  return { key: part('PRIVATE KEY') || part('EC PRIVATE KEY'), cert: part('CERTIFICATE') }
}
