import { InvalidParameterValue } from '../errors/base.ts'

/** Where a database is. */
export type DatabaseAddress =
  | { readonly dialect: 'sqlite'; /** absent: in memory */ readonly file?: string }
  | {
      readonly dialect: 'mysql'
      readonly host: string
      readonly port: number
      readonly socket?: string
      readonly user?: string
      readonly password?: string
      readonly database: string
      readonly tls?: {
        readonly ca?: string
        readonly cert?: string
        readonly key?: string
        readonly verify: boolean
        readonly checkHost: boolean
      }
      readonly connectTimeout?: number
      readonly readTimeout?: number
    }

const wrong = (what: string) =>
  new InvalidParameterValue(
    `[database]connection: ${what}. Expected sqlite:////path/to/file or mysql+pymysql://user:password@host/database?charset=utf8.`,
  )

/** Hides the password, for logs and error texts. */
export const withoutPassword = (url: string): string => url.replace(/^([^:]+:\/\/[^:@/]*):[^@]*@/, '$1:***@')

/**
 * Reads a connection URL as SQLAlchemy's `make_url` does: percent-encoded user and password, `sqlite:///relative`, `sqlite:////absolute`,
 * `sqlite://` for memory, `mysql+pymysql://…` with the parameters of pymysql.
 * @throws InvalidParameterValue
 */
export function readConnectionUrl(url: string): DatabaseAddress {
  const match = /^(?<name>[\w+]+):\/\/(?<rest>.*)$/s.exec(url)
  if (match === null) throw wrong(`"${withoutPassword(url)}" is not a database URL`)
  const { name = '', rest = '' } = match.groups ?? {}
  const [backend] = name.split('+')
  if (backend === 'sqlite') return readSqlite(rest)
  if (backend === 'mysql' || backend === 'mariadb') return readMysql(rest)
  throw wrong(`there is no support for "${name}"`)
}

function readSqlite(rest: string): DatabaseAddress {
  const [path = ''] = rest.split('?')
  if (path === '' || path === '/' || path === '/:memory:') return { dialect: 'sqlite' }
  if (!path.startsWith('/'))
    throw wrong(`"sqlite://${rest}" needs three slashes before a relative path, four before an absolute one`)
  return { dialect: 'sqlite', file: path.slice(1) }
}

const mysqlPattern =
  /^(?:(?<user>[^:/]*)(?::(?<password>[^@]*))?@)?(?:\[(?<host6>[^/?]+)\]|(?<host>[^:/?]+))?(?::(?<port>\d*))?(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/s

function readMysql(rest: string): DatabaseAddress {
  const groups = mysqlPattern.exec(rest)?.groups
  if (groups === undefined) throw wrong('user, host or database cannot be told apart')
  if (!groups['database']) throw wrong('the name of the database is missing')
  const query = new URLSearchParams(groups['query'] ?? '')
  const seconds = (key: string) => {
    const value = query.get(key)
    return value === null
      ? {}
      : { [key === 'connect_timeout' ? 'connectTimeout' : 'readTimeout']: Number(value) * 1000 }
  }
  const socket = query.get('unix_socket')
  const ca = query.get('ssl_ca')
  const cert = query.get('ssl_cert')
  const key = query.get('ssl_key')
  const wantsTls = [...query.keys()].some((each) => each === 'ssl' || each.startsWith('ssl_'))
  const disabled = /^(true|1)$/i.test(query.get('ssl_disabled') ?? '')
  const verify = !/^(false|0)$/i.test(query.get('ssl_verify_cert') ?? (ca === null ? 'false' : 'true'))
  const checkHost =
    verify && !/^(false|0)$/i.test(query.get('ssl_check_hostname') ?? query.get('ssl_verify_identity') ?? 'true')
  return {
    dialect: 'mysql',
    host: groups['host6'] ?? groups['host'] ?? 'localhost',
    port: Number(groups['port'] || 3306),
    ...(socket === null ? {} : { socket }),
    ...(groups['user'] === undefined ? {} : { user: decodeURIComponent(groups['user'].replaceAll('+', '%2B')) }),
    ...(groups['password'] === undefined
      ? {}
      : { password: decodeURIComponent(groups['password'].replaceAll('+', '%2B')) }),
    database: decodeURIComponent(groups['database']),
    ...(wantsTls && !disabled
      ? {
          tls: {
            ...(ca === null ? {} : { ca }),
            ...(cert === null ? {} : { cert }),
            ...(key === null ? {} : { key }),
            verify,
            checkHost,
          },
        }
      : {}),
    ...seconds('connect_timeout'),
    ...seconds('read_timeout'),
  }
}
