/** The API as an OpenAPI 3.1 document for one microversion, made of the same declarations that requests are checked by. */
import { MAXIMUM_MINOR, MINIMUM_MINOR, versionHeader, versionText } from '../microversions.ts'
import { isOpen, type FieldTable, type Parameters, type Route } from '../resource.ts'
import type { JsonSchema } from '../values.ts'

type Members = Record<string, unknown>

/** `/v1/nodes/:node` as `/v1/nodes/{node}`. */
const template = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')
const names = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)

const isServed = (route: Route, minor: number): boolean => isOpen(route, minor) || route.also.includes(minor)

/** `GET /v1/nodes/:node/states` → `get_nodes_node_states` */
export const operationId = ({ method, path }: Route): string =>
  [method.toLowerCase(), ...path.split('/').slice(2)].join('_').replaceAll(/[^\w]+/g, '')

const openArgs = (args: Parameters, minor: number) => Object.entries(args).filter(([, arg]) => isOpen(arg, minor))

function queryParameters(args: Parameters, minor: number): Members[] {
  return openArgs(args, minor).map(([name, { value, required }]) => ({
    name,
    in: 'query',
    required,
    schema: value.schema,
    ...(value.stored === 'list' ? { style: 'form', explode: false } : {}),
  }))
}

/** The schema of a body without the fields that are younger than the version. */
function bodySchema(schema: JsonSchema, fields: FieldTable | undefined, minor: number): JsonSchema {
  const properties = schema['properties'] as Members | undefined
  if (fields === undefined || properties === undefined) return schema
  const known = Object.entries(properties).filter(([name]) => fields[name] === undefined || isOpen(fields[name], minor))
  return { ...schema, properties: Object.fromEntries(known) }
}

const argsSchema = ({ args, lenient }: Route, minor: number): JsonSchema => {
  const open = openArgs(args, minor)
  return {
    type: 'object',
    properties: Object.fromEntries(open.map(([name, { value }]) => [name, value.schema])),
    required: open.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: lenient,
  }
}

const jsonContent = (schema: JsonSchema) => ({ 'application/json': { schema } })

function responses(route: Route, minor: number): Members {
  const { status, answer } = route
  const content =
    status === 204 || (status === 202 && answer === undefined)
      ? {}
      : { content: jsonContent(answer?.schema(minor) ?? {}) }
  return {
    [status]: { description: status === 202 ? 'The work has begun.' : 'Done.', ...content },
    default: { $ref: '#/components/responses/Fault' },
  }
}

function operation(route: Route, minor: number): Members {
  const { method, path, args, body, fields, policies, lenient } = route
  const takesQuery = method === 'GET' || method === 'DELETE' || body !== undefined
  const parameters = [
    ...names(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...(takesQuery ? queryParameters(args, minor) : []),
    { $ref: '#/components/parameters/Version' },
  ]
  const schema =
    body !== undefined ? bodySchema(body.schema, fields, minor) : takesQuery ? undefined : argsSchema(route, minor)
  const hasBody = schema !== undefined && (body !== undefined || lenient || Object.keys(args).length > 0)
  return {
    operationId: operationId(route),
    tags: [path.split('/')[2]],
    ...(route.summary === undefined ? {} : { summary: route.summary }),
    parameters,
    ...(hasBody ? { requestBody: { required: requiresBody(schema), content: jsonContent(schema) } } : {}),
    responses: responses(route, minor),
    'x-openstack-min-version': versionText(route.since ?? MINIMUM_MINOR),
    ...(route.until === undefined ? {} : { 'x-openstack-max-version': versionText(route.until) }),
    'x-policies': policies,
  }
}

const requiresBody = ({ type, required }: JsonSchema): boolean =>
  type === 'array' || (Array.isArray(required) && required.length > 0)

/** A refusal: `error_message` is a JSON text with `faultcode`, `faultstring` and `debuginfo`, or with `code`, `title` and `description`. */
const fault = {
  type: 'object',
  properties: { error_message: { type: ['string', 'null'] } },
}

/** @param url where clients reach the service */
export function openApi(routes: readonly Route[], minor: number, url: string): Members {
  const paths: Record<string, Members> = {}
  for (const route of routes) {
    if (isServed(route, minor))
      (paths[template(route.path)] ??= {})[route.method.toLowerCase()] = operation(route, minor)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bare Metal API',
      version: versionText(minor),
      description: `Provisions and manages bare metal machines. This document tells version ${versionText(minor)}; ${versionText(MINIMUM_MINOR)} to ${versionText(MAXIMUM_MINOR)} are served.`,
    },
    servers: [{ url }],
    security: [{ token: [] }, { basic: [] }, {}],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'a token of Keystone' },
        basic: { type: 'http', scheme: 'basic' },
      },
      parameters: {
        Version: {
          name: versionHeader,
          in: 'header',
          required: true,
          description: 'the microversion; without it 1.1 is meant',
          schema: { type: 'string', enum: [versionText(minor)] },
        },
      },
      responses: {
        Fault: {
          description: 'The request was refused.',
          content: jsonContent({ $ref: '#/components/schemas/Fault' }),
        },
      },
      schemas: { Fault: fault },
    },
  }
}
