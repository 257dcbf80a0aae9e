import { ImageRefValidationFailed } from '../errors/image.ts'
import { OciImageNotSpecific } from '../errors/general.ts'

/** Where an image comes from, by its reference. */
export type ImageSourceKind = 'http' | 'file' | 'glance' | 'oci' | 'nfs' | 'cifs'

const kindOfScheme: Readonly<Record<string, ImageSourceKind>> = {
  http: 'http',
  https: 'http',
  file: 'file',
  glance: 'glance',
  oci: 'oci',
  nfs: 'nfs',
  cifs: 'cifs',
  smb: 'cifs',
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

const refused = (href: unknown, reason: string) => new ImageRefValidationFailed({ image_href: href, reason })

/** The parts of a URL as Python's `urlparse` cuts it: a path is not decoded, `;parameters` of its last part are cut off. */
export function urlParts(href: string): { scheme: string; netloc: string; path: string } {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1] ?? ''
  let rest = scheme === '' ? href : href.slice(scheme.length + 1)
  rest = rest.replace(/#.*$/s, '').replace(/\?.*$/s, '')
  const netloc = rest.startsWith('//') ? /^\/\/([^/]*)/.exec(rest)![1]! : ''
  if (rest.startsWith('//')) rest = rest.slice(2 + netloc.length)
  const lastSlash = rest.lastIndexOf('/')
  const semicolon = rest.indexOf(';', Math.max(lastSlash, 0))
  return { scheme: scheme.toLowerCase(), netloc, path: semicolon < 0 ? rest : rest.slice(0, semicolon) }
}

/** @throws ImageRefValidationFailed for a reference that nothing can download */
export function imageSourceKind(href: unknown): ImageSourceKind {
  if (typeof href !== 'string') throw refused(href, 'an image reference is text')
  const { scheme } = urlParts(href)
  if (scheme === '') {
    if (uuidPattern.test(href)) return 'glance'
    throw refused(href, 'it has no scheme and is no Glance id; write http://, https:// or file:// before it')
  }
  const kind = kindOfScheme[scheme]
  if (kind === undefined) throw refused(href, `images cannot be downloaded by ${scheme}`)
  return kind
}

export const isGlanceImage = (href: string): boolean => href.startsWith('glance://') || uuidPattern.test(href)
export const isOciImage = (href: string): boolean => href.startsWith('oci://')

/** @throws ImageRefValidationFailed unless an `nfs` or `cifs` reference has a host and a path */
export function checkShareReference(kind: 'nfs' | 'cifs', href: string): void {
  const { scheme, netloc, path } = urlParts(href)
  if (kindOfScheme[scheme] !== kind) throw refused(href, `it must begin with ${kind}://`)
  if (netloc === '') throw refused(href, 'it has no host')
  if (path === '') throw refused(href, 'it has no path')
}

const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 }

/**
 * Does the reference name one manifest by its digest?
 * @throws OciImageNotSpecific without a digest that is understood; ImageRefValidationFailed with a malformed one
 */
export function checkOciDigest(href: string): void {
  const [, digest] = urlParts(href).path.split('@')
  if (digest === undefined) throw new OciImageNotSpecific({ image_ref: href })
  const [algorithm = '', value] = digest.toLowerCase().split(':')
  if (value === undefined) throw refused(href, 'the digest has no value')
  const length = digestLengths[algorithm]
  if (length === undefined) throw new OciImageNotSpecific({ image_ref: href })
  if (value.length !== length) throw refused(href, `a ${algorithm} digest has ${length} digits`)
}
