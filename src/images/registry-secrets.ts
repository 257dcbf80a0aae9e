import { readFile } from 'node:fs/promises'
import { InputFileError } from '../errors/general.ts'
import { urlParts } from './reference.ts'

interface AuthFile {
  auths?: Record<string, { auth?: string }>
}

/**
 * The pull secret for a registry from a file in the form of Docker's `config.json` (`[oci]authentication_config`): the entry of
 * the longest matching host and path.
 * @returns null without a file or an entry
 * @throws InputFileError
 */
export async function registryPullSecret(imageHref: string, path: string | null): Promise<string | null> {
  if (!path) return null
  let file: AuthFile
  try {
    file = JSON.parse(await readFile(path, 'utf8')) as AuthFile
  } catch (cause) {
    throw new InputFileError({ file_name: path, reason: (cause as Error).message }, { cause })
  }
  const { netloc, path: image } = urlParts(imageHref)
  const parts = `${netloc}${image}`.split('@')[0]!.split('/')
  for (let length = parts.length; length > 0; length--) {
    const auth = file.auths?.[parts.slice(0, length).join('/')]?.auth
    if (auth) return auth
  }
  return null
}
