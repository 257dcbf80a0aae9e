/** Links as real Ironic writes them. */
export interface Link {
  readonly href: string
  readonly rel: string
}

/** `args` follows the resource after a slash, or directly when it is a query. */
const path = (resource: string, args: string): string =>
  args.startsWith('?') ? resource + args : `${resource}/${args}`

export const resourceUrl = (url: string, resource: string, args: string): string => `${url}/v1/${path(resource, args)}`
export const bookmarkUrl = (url: string, resource: string, args: string): string => `${url}/${path(resource, args)}`

export const linksOf = (url: string, resource: string, args: string): Link[] => [
  { href: resourceUrl(url, resource, args), rel: 'self' },
  { href: bookmarkUrl(url, resource, args), rel: 'bookmark' },
]

/** Nothing in it needs an escape in JSON. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** `linksOf` as JSON text; there are many of them in a list. */
export function linksText(url: string, resource: string, args: string): string {
  if (!plain.test(args) || !plain.test(url)) return JSON.stringify(linksOf(url, resource, args))
  return `[{"href":"${url}/v1/${resource}/${args}","rel":"self"},{"href":"${url}/${resource}/${args}","rel":"bookmark"}]`
}
