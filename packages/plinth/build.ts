/** Builds the package: JavaScript of `src/` in `dist/`, with what it needs beside it. `npm pack` runs this. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { bundle } from './bundle.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'src')
const BUILT = join(ROOT, 'dist')

/** Modules that run in a thread of their own. */
const THREADS = ['graphql/endpoint/introspect', 'rest/api-reference', 'engine/files/compare-texts']
/**
 * Packages that are large, or bring large ones, and of which the server loads a few files: the bundle has those. The
 * rest of them (TypeScript, locales) would be a seventh of an install. All others are dependencies, which audits find.
 */
const COPIED = ['gql.tada', '@0no-co/graphql.web', 'date-fns', '@date-fns/tz', '@date-fns/utc']
const isCopied = (name: string) => COPIED.some((each) => name === each || name.startsWith(`${each}/`))

/** Writes `dist/`, which is emptied first. */
async function build(): Promise<void> {
  await rm(BUILT, { recursive: true, force: true })
  await bundle(BUILT, {
    also: THREADS,
    isOutside: (specifier) => /^[^./]/.test(specifier) && !isCopied(specifier),
    placeOf: (source) => join(BUILT, source.replace(/\.ts$/, '.mjs')),
    sourcemap: true,
  })
  for await (const name of glob('**/*', { cwd: SOURCES })) {
    if (/\.[a-z]+$/.test(name) && !name.endsWith('.ts')) await cp(join(SOURCES, name), join(BUILT, name))
  }
  for (const name of COPIED) await copyLicense(name)
  await writeBom()
  compileClient()
}

/** `plinth/client`: the part of the package that programs import, with its types. `npm run check` checks them. */
function compileClient(): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js')
  const client = ['-p', join(ROOT, 'packages/client'), '--outDir', join(BUILT, 'client')]
  const args = [compiler, ...client, '--inlineSources', '--declarationMap', 'false']
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error('The client could not be compiled.')
}

/** Names the copies to audit tools, which find no dependency on them: a CycloneDX bill of materials. */
async function writeBom(): Promise<void> {
  const components = COPIED.map(async (name) => {
    const text = await readFile(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')
    const { version, license } = JSON.parse(text) as { version: string; license: string }
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] }
  })
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    components: await Promise.all(components),
  }
  await writeFile(join(BUILT, 'packages', 'bom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`)
}

async function copyLicense(name: string): Promise<void> {
  const folder = join(ROOT, 'node_modules', name)
  await mkdir(join(BUILT, 'packages', name), { recursive: true })
  for (const file of ['LICENSE', 'LICENSE.md'])
    if (existsSync(join(folder, file))) await cp(join(folder, file), join(BUILT, 'packages', name, file))
}

await build()
