import { readFileSync } from 'node:fs'
import { hostname, networkInterfaces, tmpdir } from 'node:os'
import { dirname } from 'node:path'

/** Stock values that depend on the machine and on where the package is installed, by `group/name`. */
export function hostDefaults(): Record<string, unknown> {
  return {
    'DEFAULT/my_ip': ownAddress(),
    'DEFAULT/host': hostname(),
    'DEFAULT/pybasedir': dirname(import.meta.dirname),
    'DEFAULT/tempdir': tmpdir(),
    'oslo_messaging_rabbit/hostname': hostname(),
  }
}

/** The IPv4 address of the interface that the default route uses, else 127.0.0.1. */
function ownAddress(): string {
  const name = defaultRouteInterface()
  const addresses = name === undefined ? [] : (networkInterfaces()[name] ?? [])
  return addresses.find((address) => address.family === 'IPv4')?.address ?? '127.0.0.1'
}

function defaultRouteInterface(): string | undefined {
  let routes: string
  try {
    routes = readFileSync('/proc/net/route', 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const columns = routes.split('\n').map((line) => line.split('\t'))
  return columns.find((column) => column[1] === '00000000')?.[0]
}
