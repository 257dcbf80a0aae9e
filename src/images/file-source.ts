import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { posix } from 'node:path'
import { ImageRefValidationFailed } from '../errors/image.ts'
import { urlParts } from './reference.ts'

/** Never a source of images, whatever the allow-list says. */
const neverAllowed = ['/dev', '/sys', '/proc', '/boot', '/etc', '/run']

const below = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

// Python's abspath keeps two leading slashes, which POSIX leaves open
const absolute = (path: string) => (/^\/\/[^/]/.test(path) ? `/${posix.normalize(path)}` : posix.normalize(path))

/** @throws ImageRefValidationFailed */
function checkPath(href: string, path: string, allowed: readonly string[]): void {
  const refuse = (reason: string) => new ImageRefValidationFailed({ image_href: href, reason })
  if (!path.startsWith('/') || path.includes('\0')) throw refuse('it must be of the form file:///absolute/path')
  const trimmed = path.length > 1 ? path.replace(/\/$/, '') : path
  const bad = neverAllowed.find((folder) => below(trimmed, folder))
  if (bad !== undefined) throw refuse(`files in ${bad} are never images`)
  // an entry is a folder by its plain name, so "/" allows nothing
  const fits = allowed.some((entry) => entry !== '/' && below(trimmed, entry.replace(/(.)\/+$/, '$1')))
  if (!fits) throw refuse('its folder is not in [conductor]file_url_allowed_paths')
}

/**
 * The path of a `file://` reference, checked by its name alone.
 * @throws ImageRefValidationFailed
 */
export function pathOfFileUrl(href: string, allowed: readonly string[]): string {
  const { path } = urlParts(href)
  checkPath(href, absolute(path), allowed)
  return path
}

export interface OpenImageFile {
  readonly handle: FileHandle
  /** after all links */
  readonly path: string
  readonly size: number
  readonly modified: Date
}

/**
 * Opens the file of a `file://` reference. Links are resolved first and the target must be allowed too; devices, pipes and
 * folders are refused, and opening waits for nothing.
 * @throws ImageRefValidationFailed
 */
export async function openImageFile(href: string, allowed: readonly string[]): Promise<OpenImageFile> {
  const refuse = (reason: string, cause?: unknown) =>
    new ImageRefValidationFailed({ image_href: href, reason }, { cause })
  const named = pathOfFileUrl(href, allowed)
  let handle: FileHandle | undefined
  try {
    const path = await realpath(named)
    checkPath(href, path, await Promise.all(allowed.map(resolved)))
    // the target has no links left; O_NONBLOCK so that a pipe put there cannot hold us
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const facts = await handle.stat()
    if (!facts.isFile()) throw refuse('it is not a regular file')
    return { handle, path, size: facts.size, modified: facts.mtime }
  } catch (cause) {
    await handle?.close()
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refuse('the file does not exist', cause)
    if (code === 'EACCES' || code === 'ELOOP' || code === 'ENXIO') throw refuse(`it cannot be read (${code})`, cause)
    throw cause
  }
}

/** The allow-list may itself be written by way of links. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return path
  }
}
