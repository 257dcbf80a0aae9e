import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The first of the folders that has the file. */
export const findIn = (folders: readonly string[], name: string): string | undefined =>
  folders.map((folder) => resolve(folder, name)).find((path) => existsSync(path))

/** The folders in which oslo.config looks for a project's configuration, best first. */
export function searchFolders(project: string, env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? homedir()
  const snaps = [env['SNAP_COMMON'], env['SNAP']].filter((folder) => folder !== undefined && folder !== '')
  return [
    join(home, `.${project}`),
    home,
    join('/etc', project),
    '/etc',
    ...snaps.map((folder) => join(folder!, 'etc', project)),
  ].map((folder) => resolve(folder))
}

/**
 * The default files (`ironic.conf`, `ironic-api.conf`) or folders (`ironic.conf.d`), each from the first place that has it.
 *
 * @param extension `.conf` or `.conf.d`
 */
export function findConfigFiles(project: string, program: string, extension: string, env: NodeJS.ProcessEnv): string[] {
  const folders = searchFolders(project, env)
  return [project, program].flatMap((name) => {
    const found = findIn(folders, name + extension)
    return found === undefined ? [] : [found]
  })
}

/** `~` at the start is the home folder. */
export function expandHome(path: string, env: NodeJS.ProcessEnv): string {
  return path === '~' || path.startsWith('~/') ? join(env['HOME'] ?? homedir(), path.slice(1)) : path
}
