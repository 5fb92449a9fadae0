/** Finds the bundle of a checkout, which `packages/plinth/bundle-checkout.ts` makes. Plain JavaScript for old Nodes. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The address of the bundled command; undefined if there is none, or a file that it was made of has changed. */
export function bundled(folder = root) {
  const cache = join(folder, 'node_modules/.cache/plinth')
  try {
    const { name, files } = JSON.parse(readFileSync(join(cache, 'bundle.json'), 'utf8'))
    const entry = join(cache, name, 'cli/main.mjs')
    const isSame = ([file, changedAt, size]) => {
      const found = statSync(join(folder, file))
      return found.ctimeMs === changedAt && found.size === size
    }
    return existsSync(entry) && files.every(isSame) ? pathToFileURL(entry) : undefined
  } catch {
    return undefined
  }
}
