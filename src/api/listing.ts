/** Lists: which page is asked for, which fields are shown, and the link to the next page. */
import type { Config } from '../config/index.ts'
import type { Row } from '../db/codec.ts'
import type { Page } from '../db/paging.ts'
import { ClientSideError, InvalidParameterValue } from '../errors/base.ts'
import { resourceUrl } from './links.ts'
import { jsonText, optional, type AnyCall, type Described, type Reply } from './resource.ts'
import { Flag, Integer, Text, TextList, Uuid } from './values.ts'
import type { View, ViewContext } from './view.ts'

/** Parameters that every list takes. */
export const pageArgs = {
  marker: optional(Uuid),
  limit: optional(Integer),
  sort_key: optional(Text),
  sort_dir: optional(Text),
}
/** Parameters that choose what is shown. */
export const fieldArgs = { fields: optional(TextList, { since: 8 }) }
export const detailArgs = { detail: optional(Flag, { since: 43, below: 400 }) }

/** The answer of a list, for the OpenAPI document. */
export const listAnswer = (collection: string, member: Described): Described => ({
  schema: (minor) => ({
    type: 'object',
    properties: {
      [collection]: { type: 'array', items: member.schema(minor) },
      next: { type: 'string', format: 'uri', description: 'where the next page is; missing on the last one' },
    },
    required: [collection],
  }),
})

export interface PageArgs {
  readonly marker: string | undefined
  readonly limit: number | undefined
  readonly sort_key: string | undefined
  readonly sort_dir: string | undefined
}

/** At most `[api]max_limit`. @throws ClientSideError when it is not positive */
export function limitOf(limit: number | undefined, config: Config): number {
  if (limit === undefined) return config.api.max_limit
  if (limit <= 0) throw new ClientSideError('Limit must be positive')
  return Math.min(config.api.max_limit, limit)
}

export function sortDirOf(direction: string): 'asc' | 'desc' {
  if (direction !== 'asc' && direction !== 'desc') {
    throw new ClientSideError(
      `Invalid sort direction: ${direction.slice(0, 64)}. Acceptable values are 'asc' or 'desc'`,
    )
  }
  return direction
}

export interface WantedPage extends Page {
  readonly limit: number
  readonly sortKey: string
  readonly sortDir: 'asc' | 'desc'
}

/**
 * @param unsortable fields whose values have no order
 * @throws ClientSideError, InvalidParameterValue
 */
export function pageOf(args: PageArgs, config: Config, unsortable: readonly string[] = []): WantedPage {
  const limit = limitOf(args.limit, config)
  const sortDir = sortDirOf(args.sort_dir ?? 'asc')
  const sortKey = args.sort_key ?? 'id'
  if (unsortable.includes(sortKey)) {
    throw new InvalidParameterValue(`The sort_key value "${sortKey}" is an invalid field for sorting`)
  }
  return { limit, sortDir, sortKey, ...(args.marker === undefined ? {} : { marker: args.marker }) }
}

/**
 * The fields that a list shows; null: all of them.
 * @throws InvalidParameterValue when both `fields` and `detail` are given
 */
export function shownFields(
  { fields, detail }: { readonly fields?: readonly string[] | undefined; readonly detail?: boolean | undefined },
  listed: readonly string[],
): readonly string[] | null {
  if (fields !== undefined && detail === true) {
    throw new InvalidParameterValue('Can not specify ?detail=True and fields in the same request.')
  }
  if (fields !== undefined) return fields
  return detail === true ? null : listed
}

/** Query parameters in the form that they are sent. */
export function queryText(parameters: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue
    const text = Array.isArray(value)
      ? value.join(',')
      : typeof value === 'boolean'
        ? value
          ? 'True'
          : 'False'
        : String(value)
    pairs.push(`${name}=${encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':')}`)
  }
  return pairs.join('&')
}

export interface Listing<C extends ViewContext> {
  /** name of the list in the answer */
  readonly name: string
  readonly rows: readonly Row[]
  readonly view: View<C>
  readonly context: C
  readonly shown: readonly string[] | null
  /** the choice of fields is no parameter of this list */
  readonly named?: false
  /** path of the list below `/v1/` */
  readonly path: string
  readonly page: WantedPage
  /** all other parameters of the request: the next page is a page of the same list */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** the last row of a page that is full, when some of its rows are not shown */
  readonly last?: Row
  /** what the marker is taken from */
  readonly key?: string
  /** there cannot be a next page */
  readonly whole?: boolean
}

/** The answer to a list. */
export function listReply<C extends ViewContext>(call: AnyCall, listing: Listing<C>): Reply {
  const { rows, view, context, shown, page, key = 'uuid' } = listing
  const write = view.writer(call.minor, shown)
  let text = `{"${listing.name}":[`
  for (let index = 0; index < rows.length; index++) text += (index === 0 ? '' : ',') + write(rows[index]!, context)
  text += ']'
  const last = listing.last ?? (rows.length === page.limit ? rows.at(-1) : undefined)
  if (listing.whole !== true && last !== undefined) {
    const query = queryText({
      sort_key: page.sortKey,
      sort_dir: page.sortDir,
      ...listing.parameters,
      fields: listing.named === false ? undefined : shown,
      limit: page.limit,
      marker: last[key],
    })
    text += `,"next":${JSON.stringify(resourceUrl(call.url, listing.path, `?${query}`))}`
  }
  return jsonText(`${text}}`)
}
