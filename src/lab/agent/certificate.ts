import { createPrivateKey, generateKeyPair, randomBytes, sign } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { promisify } from 'node:util'

/** A key and its self-signed certificate, both PEM. */
export interface Identity {
  readonly key: string
  readonly cert: string
}

const generate = promisify(generateKeyPair)
const day = 24 * 60 * 60_000

/** Object identifiers, DER contents (RFC 5280, RFC 5758). */
const oids = { ecdsaWithSha256: '2a8648ce3d040302', commonName: '550403', subjectAltName: '551d11' } as const

/**
 * Makes a key (P-256, off the event loop) and a certificate (RFC 5280, version 3) for an address, as the agent makes its
 * own at each start.
 * @param address IP address, as the only subjectAltName; critical, as the agent's
 * @param days how long it is valid; it begins an hour ago, since clocks differ
 */
export async function makeIdentity(commonName: string, address: string, { days = 90 } = {}): Promise<Identity> {
  const keys = await generate('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const algorithm = sequence(oid(oids.ecdsaWithSha256))
  const name = sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from(commonName)))))
  const alternative = sequence(
    oid(oids.subjectAltName),
    der(0x01, Buffer.of(0xff)),
    der(0x04, sequence(der(0x87, addressBytes(address)))),
  )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(Date.now() - day / 24), time(Date.now() + days * day)),
    name,
    keys.publicKey,
    der(0xa3, sequence(alternative)),
  )
  const signature = sign('sha256', body, createPrivateKey(keys.privateKey))
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return { key: keys.privateKey, cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` }
}

/** One DER element (X.690 section 8.1). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
/** UTCTime, right until 2049. */
const time = (at: number) =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const middle = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...middle, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
