/**
 * Generates the database client of a checkout, builds the explorer, and bundles the sources. npm runs it after an install;
 * `plinth` does the first two where that was not, or the sources are newer.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { bundledNode, folderOf, isNewEnough } from './runtime.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const client = join(root, 'src/engine/prisma/client.ts')

/** Is a client there that was made from these models? An update of the checkout changes them. */
export function isPrepared(folder = root) {
  const made = join(folder, 'src/engine/prisma')
  if (!existsSync(join(made, 'client.ts'))) return false
  const { mtimeMs: madeAt } = statSync(join(made, 'client.ts'))
  const newer = ['prisma', 'prisma/models']
    .flatMap((each) => readdirSync(join(folder, each)).map((name) => join(folder, each, name)))
    .filter((file) => file.endsWith('.prisma') && statSync(file).mtimeMs > madeAt)
  if (newer.length === 0) return true
  // Git gives a new time to files that are as before, too. The client has the text of its models, formatted.
  const text = withoutSpace(readFileSync(join(made, 'internal/class.ts'), 'utf8'))
  return newer.every((file) =>
    text.includes(withoutSpace(JSON.stringify(readFileSync(file, 'utf8')).slice(1, -1))),
  )
}

const withoutSpace = (text) => text.replaceAll('\\n', '').replace(/\s+/g, '')

/** Generates the client. Says nothing on success; throws with all that the generator said. */
export function prepare() {
  const prisma = folderOf('prisma')
  if (!prisma)
    throw new Error('The package "prisma" is not installed. Run npm install in the folder of Plinth.')
  const fault = run([join(prisma, 'build/index.js'), 'generate'], {
    // The generator asks for the schema engine, does not run it, and closed networks cannot download it.
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  })
  if (fault === undefined && existsSync(client)) return
  throw new Error(
    `The database client could not be generated (Node ${process.versions.node}).\n${fault ?? ''}`,
  )
}

const explorer = join(root, 'dist/web/index.html')

/** Is the explorer built from these sources? */
export function isExplorerBuilt() {
  if (!existsSync(explorer)) return false
  const { mtimeMs: builtAt } = statSync(explorer)
  return readdirSync(join(root, 'web'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .every(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs <= builtAt)
}

/** Builds the explorer, in about a second. Where that fails, a server has none, and its page at `/` says how to build it. */
export function buildExplorer() {
  const vite = folderOf('vite')
  if (!vite) return
  const fault = run([join(vite, 'bin/vite.js'), 'build', 'web'])
  if (fault !== undefined) process.stderr.write(`The explorer could not be built: ${fault}\n`)
}

/** Bundles the sources, so that a start takes two thirds of its time. Where that fails, it loads them one by one. */
function bundleSources() {
  if (!folderOf('rolldown')) return
  const fault = run([join(root, 'packages/plinth/bundle-checkout.ts')])
  if (fault !== undefined) process.stderr.write(`The sources could not be bundled: ${fault}\n`)
}

/** Runs a script of Node in the checkout. Returns all that it said, if it failed. */
function run(script, env = {}) {
  const node = (!isNewEnough && bundledNode()) || process.execPath
  const { status, error, stdout, stderr } = spawnSync(node, script, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  if (status === 0) return undefined
  return error ? error.message : `${stdout}${stderr}`.trim()
}

const [, script] = process.argv
const isScript = script && existsSync(script) && realpathSync(script) === fileURLToPath(import.meta.url)
// The built package has no sources, and brings its client.
if (isScript && existsSync(join(root, 'src'))) {
  try {
    prepare()
    if (!isExplorerBuilt()) buildExplorer()
    bundleSources()
  } catch (error) {
    process.stderr.write(`${error.message}\nOnce that is mended, run: node bin/prepare.mjs\n`)
    process.exitCode = 1
  }
}
