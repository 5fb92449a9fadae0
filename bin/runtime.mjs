/** Which Node runs Plinth: the one that runs this file, or the one that was installed with it. Plain JavaScript for old Nodes. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'

const require = createRequire(import.meta.url)
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

/** Does this Node run TypeScript as it is? From 22.18 and 23.6 on. */
export const isNewEnough = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)

/** The folder of an installed package, wherever npm put it. */
export function folderOf(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** The Node that came as an optional dependency, where there is one for this machine. */
export function bundledNode() {
  const folder = folderOf(`node-${process.platform}-${process.arch}`)
  const file = folder && join(folder, 'bin', 'node')
  return file && existsSync(file) ? file : undefined
}
