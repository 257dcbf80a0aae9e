import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** How the other side's certificate is checked: against the stock CAs, not at all, or against the CAs in a file or folder. */
export type Verify = boolean | { readonly caPath: string }

export interface TlsSettings {
  readonly verify: Verify
  readonly minimumVersion?: '1.2' | '1.3' | null
  /** OpenSSL cipher names, colons between */
  readonly ciphers?: string | null
}

/** For `tls.connect` and undici's `connect`. */
export interface TlsClientOptions {
  rejectUnauthorized: boolean
  ca?: string
  minVersion?: 'TLSv1.2' | 'TLSv1.3'
  ciphers?: string
}

/** The PEM text of a file, or of every file of a folder. */
export async function readCertificates(path: string): Promise<string> {
  if (!(await stat(path)).isDirectory()) return await readFile(path, 'utf8')
  const names = (await readdir(path)).sort()
  const texts = await Promise.all(
    names.map(async (name) => {
      const file = join(path, name)
      return (await stat(file)).isFile() ? await readFile(file, 'utf8') : ''
    }),
  )
  return texts.filter((text) => text.includes('-----BEGIN CERTIFICATE-----')).join('\n')
}

export async function tlsClientOptions({ verify, minimumVersion, ciphers }: TlsSettings): Promise<TlsClientOptions> {
  const options: TlsClientOptions = { rejectUnauthorized: verify !== false }
  if (typeof verify === 'object') options.ca = await readCertificates(verify.caPath)
  if (minimumVersion) options.minVersion = `TLSv${minimumVersion}`
  if (ciphers) options.ciphers = ciphers
  return options
}
