/** What the pages for people may cost: bytes of the first load, lines, and where their words are. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const SOURCES = 'web/src'
const BUILT = 'dist/web'
const KB = 1024

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|tsx|css)$/.test(name) && !name.endsWith('.d.ts'))
  .map((name) => ({ name, text: readFileSync(join(SOURCES, name), 'utf8') }))
const scripts = sources.filter(({ name }) => !name.endsWith('.css'))
const lines = (text: string) => text.split('\n').length - 1

describe('bytes, compressed as they are sent', () => {
  const sizeOf = (asset: string) => statSync(join(BUILT, 'assets', `${asset}.br`)).size
  const textOf = (asset: string) =>
    brotliDecompressSync(readFileSync(join(BUILT, 'assets', `${asset}.br`))).toString()
  /** What a script imports before it runs. */
  const staticImports = (asset: string): string[] =>
    [...textOf(asset).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)].map(
      ([, name = '']) => name,
    )

  const entries = [
    ...readFileSync(join(BUILT, 'index.html'), 'utf8').matchAll(
      /(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g,
    ),
  ].map(([, name = '']) => name)
  const first = new Set(entries)
  for (const asset of first)
    if (asset.endsWith('.js')) for (const each of staticImports(asset)) first.add(each)

  test('the first load is at most 180 kB', () => {
    expect(first.size).toBeGreaterThanOrEqual(2)
    const sizes = Object.fromEntries([...first].map((asset) => [asset, sizeOf(asset)]))
    const sum = Object.values(sizes).reduce((before, size) => before + size, 0)
    expect(sum, JSON.stringify(sizes)).toBeLessThanOrEqual(180 * KB)
  })

  test('each file that is loaded on demand is at most 25 kB', () => {
    const later = readdirSync(join(BUILT, 'assets'))
      .map((name) => basename(name, '.br'))
      .filter((name) => /\.(js|css)$/.test(name) && !first.has(name))
    expect(later).not.toEqual([])
    expect(later.filter((name) => sizeOf(name) > 25 * KB)).toEqual([])
  })

  test('no file names its sources, and none has a map', () => {
    for (const name of readdirSync(join(BUILT, 'assets'))) expect(name).not.toContain('.map')
    for (const asset of first) expect(textOf(asset)).not.toContain('sourceMappingURL')
  })
})

describe('sources', () => {
  // 1,100 of them are the views in the chat of an MCP client, which are pages of their own, 800 the types with their editor, and
  // 150 the pauses of agents and rollbacks in parts, 50 what a view may call where it is, and
  // 600 the reviewer's verdicts on change-sets, records and fields, 25 who proposed what is in the feed,
  // 200 what is proposed for a record, and what passes of a proposal of types, 15 what an undo in the chat replaces, 10 rows that are saved as a file,
  // 45 what is read again when a server that was away answers, 15 which pages a token can open,
  // 3 that an open row stays,
  // 7 that what is typed stays where a record is deleted, and the way to sign in again,
  // 5 that the focus is not below a bar, 20 the clock of the server.
  test('are at most 18,157 lines, and no component of more than 210', () => {
    expect(sources.reduce((sum, { text }) => sum + lines(text), 0)).toBeLessThanOrEqual(18_157)
    const long = scripts.filter(({ name, text }) => name.endsWith('.tsx') && lines(text) > 210)
    expect(long.map(({ name, text }) => `${name}: ${lines(text)}`)).toEqual([])
  })

  test('of a page import no other page', () => {
    const crossing = scripts.flatMap(({ name, text }) => {
      const [folder, page] = name.split('/')
      if (folder !== 'pages') return []
      return importsOf(text)
        .filter((path) => path.startsWith('.'))
        .map((path) => join(dirname(name), path))
        .filter((path) => path.startsWith('pages/') && path.split('/')[1] !== page)
        .map((path) => `${name} imports ${path}`)
    })
    expect(crossing).toEqual([])
  })

  test('style a class in one page only, since a page stays loaded when another is opened', () => {
    const styles = sources.filter(({ name }) => name.endsWith('.css'))
    const shared = new Set(styles.filter(({ name }) => name.startsWith('style/')).flatMap(classesOf))
    const own = styles.filter(({ name }) => name.startsWith('pages/')).flatMap(classesOf)
    expect(own).not.toEqual([])
    expect(own.filter((name, at) => !shared.has(name) && own.indexOf(name) !== at)).toEqual([])
    const bare = styles
      .filter(({ name }) => name.startsWith('pages/'))
      .flatMap(({ text }) => [...text.matchAll(/^ *\.([a-z][a-z0-9-]+) \{/gm)].map(([, name = '']) => name))
    expect(bare).not.toEqual([])
    expect(bare.filter((name) => shared.has(name))).toEqual([])
    // A rule of a page for an element is one of all pages.
    const elements = styles
      .filter(({ name }) => name.startsWith('pages/'))
      .flatMap(({ text }) => [...text.matchAll(/^ *[a-z][a-z0-9]*,? *\{?$/gm)].map(([rule]) => rule.trim()))
    expect(elements).toEqual([])
  })

  test('have their words in words.ts', () => {
    const found = scripts
      .filter(({ name }) => basename(name) !== 'words.ts')
      .flatMap(({ name, text }) => wordsIn(name, text))
    expect(found).toEqual([])
  })

  test('make no markup of values', () => {
    const evaluating =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/
    expect(scripts.filter(({ text }) => evaluating.test(text)).map(({ name }) => name)).toEqual([])
  })
})

/** The classes that a style sheet names, each once. */
const classesOf = ({ text }: { text: string }): string[] => [
  ...new Set([...text.matchAll(/\.([a-z][a-z0-9-]+)(?=[^{};]*\{)/g)].map(([, name = '']) => name)),
]

const importsOf = (text: string): string[] =>
  ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName)

/** Attributes that a person reads or hears. */
const READ = new Set([
  'title',
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'alt',
  'placeholder',
  'label',
])
/** The product's name, and the beginning of a token. */
const NAMES = new Set(['Plinth', 'plt_…', 'npx plinth open'])
const isSentence = (text: string) => /^[A-Z][a-z]+[,']? [a-z]+/.test(text)

/** Words of a script that people read: text between tags, attributes, and sentences in strings. */
function wordsIn(name: string, text: string): string[] {
  const file = ts.createSourceFile(
    name,
    text,
    ts.ScriptTarget.Latest,
    true,
    name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  )
  const found: string[] = []
  const note = (node: ts.Node, words: string) => {
    if (NAMES.has(words)) return
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
    found.push(`${relative('.', name)}:${line + 1} ${words}`)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isJsxElement(node) && node.openingElement.tagName.getText(file) === 'kbd') return
    if (ts.isJsxText(node) && /\p{L}/u.test(node.text)) note(node, node.text.trim())
    else if (ts.isJsxAttribute(node) && READ.has(node.name.getText(file))) {
      const { initializer } = node
      if (initializer && ts.isStringLiteral(initializer) && /\p{L}/u.test(initializer.text))
        note(node, initializer.text)
    } else if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && isSentence(node.text))
      note(node, node.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
