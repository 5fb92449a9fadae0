/** Builds the playground: hashed files, compressed with brotli, in the folder that the server serves. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const HERE = import.meta.dirname
const OUT = join(HERE, '../../src/graphql/endpoint/playground-files')
/** Where the server serves the files. */
const PREFIX = '/playground/'
const MOST_BYTES = 2_000_000
const compress = promisify(brotliCompress)

const COMMON: BuildOptions = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  outdir: 'out',
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  target: 'es2022',
  publicPath: PREFIX,
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.ttf': 'file' },
  legalComments: 'none',
}

/** GraphiQL brings fonts of 330 KB. The page uses those of the system. */
const systemFonts: Plugin = {
  name: 'system-fonts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /graphiql\/dist\/style\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/@font-face\s*\{[^}]*base64[^}]*\}/g, ''),
      loader: 'css',
    }))
  },
}

const workers = await build({
  ...COMMON,
  format: 'iife',
  entryPoints: {
    'editor-worker': 'monaco-editor/esm/vs/editor/editor.worker.js',
    'json-worker': 'monaco-editor/esm/vs/language/json/json.worker.js',
    'graphql-worker': 'monaco-graphql/esm/graphql.worker.js',
  },
})
const addressOf = (start: string) => {
  const file = workers.outputFiles?.find(({ path }) => basename(path).startsWith(start))
  if (!file) throw new Error(`There is no ${start}`)
  return PREFIX + basename(file.path)
}
const app = await build({
  ...COMMON,
  format: 'esm',
  splitting: true,
  entryPoints: { app: 'src/main.tsx' },
  jsx: 'automatic',
  plugins: [systemFonts],
  // A part of CommonJS has a default export only, and GraphiQL takes the parsers by name.
  alias: {
    'prettier/parser-graphql': 'prettier/plugins/graphql',
    'prettier/parser-babel': 'prettier/plugins/babel',
  },
  define: {
    ...COMMON.define,
    WORKERS: JSON.stringify({
      editor: addressOf('editor-worker-'),
      json: addressOf('json-worker-'),
      graphql: addressOf('graphql-worker-'),
    }),
  },
})

await rm(OUT, { recursive: true, force: true })
await mkdir(OUT, { recursive: true })
let bytes = 0
const files: string[] = []
const outputs = [...(app.outputFiles ?? []), ...(workers.outputFiles ?? [])]
// The style of GraphiQL has those of the editor, whose own are beside their scripts.
for (const { path, contents } of outputs.filter(({ path }) => !/part-.*\.css$/.test(path))) {
  const packed = await compress(contents, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 },
  })
  bytes += packed.length
  files.push(basename(path))
  await writeFile(join(OUT, `${basename(path)}.br`), packed)
}
if (bytes > MOST_BYTES) throw new Error(`The playground has ${bytes} bytes, more than ${MOST_BYTES}.`)
const named = (end: string) => PREFIX + files.find((file) => file.startsWith('app-') && file.endsWith(end))
const manifest = {
  sources: await digestOfSources(),
  script: named('.js'),
  style: named('.css'),
  files: files.sort(),
}
await writeFile(join(OUT, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
process.stdout.write(`${files.length} files, ${bytes} bytes\n`)

/** What the files are built from. A test compares it, so that no change of the sources is forgotten. */
async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const sources = (await readdir(join(HERE, 'src'))).sort().map((name) => `src/${name}`)
  for (const name of ['build.ts', 'package-lock.json', ...sources])
    hash.update(name).update(await readFile(join(HERE, name)))
  return hash.digest('hex')
}
