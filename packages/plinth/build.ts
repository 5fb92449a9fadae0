/** Builds the package: JavaScript of `src/` in `dist/`, with what it needs beside it. `npm pack` runs this. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'src')
const BUILT = join(ROOT, 'dist')

/**
 * Packages that are large, or bring large ones, and of which the server loads a few files: those are copied.
 * The rest of them (TypeScript, locales) would be a seventh of an install.
 */
const COPIED = ['gql.tada', '@0no-co/graphql.web', 'date-fns', '@date-fns/tz']

/** Writes `dist/`, which is emptied first. */
async function build(): Promise<void> {
  await rm(BUILT, { recursive: true, force: true })
  compile('-p', import.meta.dirname)
  for await (const name of glob('**/*', { cwd: SOURCES })) {
    if (/\.[a-z]+$/.test(name) && !name.endsWith('.ts')) await cp(join(SOURCES, name), join(BUILT, name))
  }
  await dropMaps()
  await copyPackages()
  // `plinth/client`: the part of the package that programs import, with its types.
  const client = ['-p', join(ROOT, 'packages/client'), '--outDir', join(BUILT, 'client')]
  compile(...client, '--inlineSources', '--declarationMap', 'false')
}

/** Types of the server are checked by `npm run check`. */
function compile(...options: readonly string[]): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js')
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The sources could not be compiled.')
}

/** Drops the source maps of the generated database client: ten megabytes of types that nobody reads. */
async function dropMaps(): Promise<void> {
  for await (const name of glob('engine/prisma/**/*.js', { cwd: BUILT })) {
    const script = join(BUILT, name)
    await rm(`${script}.map`)
    const text = await readFile(script, 'utf8')
    await writeFile(script, text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
  }
}

/** Copies the files of `COPIED` that the scripts reach, and points the imports at the copies. */
async function copyPackages(): Promise<void> {
  const open: { script: string; source: string }[] = []
  for await (const name of glob('**/*.js', { cwd: BUILT }))
    open.push({ script: join(BUILT, name), source: join(BUILT, name) })
  const done = new Set(open.map(({ script }) => script))
  for (let next = open.pop(); next; next = open.pop()) {
    const { script, source } = next
    const text = await readFile(source, 'utf8')
    const edits = importsOf(text, source).flatMap(({ pos, end, from }) => {
      const copy = from && copyOf(from)
      if (!copy) return []
      if (!done.has(copy)) open.push({ script: copy, source: from })
      done.add(copy)
      const path = relative(dirname(script), copy)
      return [{ pos, end, path: path.startsWith('.') ? path : `./${path}` }]
    })
    if (source === script && edits.length === 0) continue
    await mkdir(dirname(script), { recursive: true })
    await writeFile(script, edits.reduceRight(replace, text))
  }
  for (const name of COPIED) await copyLicense(name)
  await writeBom()
}

/** The imports of a script, with the files of packages that they name. */
function importsOf(text: string, source: string) {
  return specifiersOf(text).map((specifier) => {
    const name = specifier.text
    const isOwn = name.startsWith('.')
    const position = { pos: specifier.getStart(), end: specifier.getEnd() }
    if (isOwn && source.startsWith(BUILT)) return { ...position, from: undefined }
    const from = isOwn
      ? resolve(dirname(source), name)
      : COPIED.some((each) => name === each || name.startsWith(`${each}/`))
        ? moduleOf(fileURLToPath(import.meta.resolve(name)))
        : undefined
    return { ...position, from }
  })
}

/** The literals of `import … from`, `export … from` and `import(…)`, in their order. */
function specifiersOf(text: string): ts.StringLiteral[] {
  const found: ts.StringLiteral[] = []
  const visit = (node: ts.Node): void => {
    const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    const named = isCall
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined
    if (named && ts.isStringLiteral(named)) found.push(named)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('script.js', text, ts.ScriptTarget.Latest, true))
  return found
}

/** Below our `package.json` a `.js` file is a module: where a package has both, the copy is the module. */
function moduleOf(file: string): string {
  const module = file.replace(/\.js$/, '.mjs')
  return existsSync(module) ? module : file
}

/** Where the copy of a file of a package is; undefined for a file of ours. */
function copyOf(file: string): string | undefined {
  const [, path] = file.split('/node_modules/')
  return path && join(BUILT, 'packages', path)
}

const replace = (text: string, { pos, end, path }: { pos: number; end: number; path: string }) =>
  `${text.slice(0, pos)}${JSON.stringify(path)}${text.slice(end)}`

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
  for (const file of ['LICENSE', 'LICENSE.md'])
    if (existsSync(join(folder, file))) await cp(join(folder, file), join(BUILT, 'packages', name, file))
}

await build()
