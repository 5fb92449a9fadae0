/** Bundles the sources: a start then loads a few dozen files instead of two thousand. */
import { basename, dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'src')
/** WebAssembly that a package has as text. It would stay in memory twice: as the source of its module, and as its value. */
const WASM_TEXT = /\.wasm-base64\.mjs$/
/** Stands for `import.meta.url` of a source until the place of its chunk is known. */
const ADDRESS = /__PLINTH_ADDRESS__\("([^"]+)"\)/g

type Bundling = {
  /** Modules of their own besides the command, without their extension. */
  also?: readonly string[]
  /** Whether a package stays outside, to be loaded from `node_modules`. */
  isOutside: (specifier: string) => boolean
  /** The file whose address a source takes for its own, as the files beside it are found by that. */
  placeOf: (source: string) => string
  sourcemap: boolean
}

/** Writes the command to `cli/main.mjs` of a folder, and what it loads beside it. */
export async function bundle(into: string, { also = [], isOutside, placeOf, sourcemap }: Bundling) {
  const entries = ['cli/main', ...also].map((name) => [name, join(SOURCES, `${name}.ts`)])
  const made = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries),
    platform: 'node',
    external: isOutside,
    plugins: [
      {
        name: 'wasm',
        load: {
          filter: { id: WASM_TEXT },
          async handler(id) {
            const { wasm } = (await import(id)) as { wasm: string }
            const name = `${basename(id, '.wasm-base64.mjs')}.wasm`
            const file = this.emitFile({ type: 'asset', name, source: Buffer.from(wasm, 'base64') })
            // `Buffer.from` asks an object for its value.
            return `import { readFileSync } from 'node:fs'
export const wasm = { valueOf: () => readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file})) }`
          },
        },
      },
      {
        name: 'addresses',
        transform: {
          filter: { id: /\/src\/.*\.ts$/, code: 'import.meta.url' },
          handler: (code, id) => ({
            code: code.replaceAll(
              'import.meta.url',
              `__PLINTH_ADDRESS__(${JSON.stringify(relative(SOURCES, id))})`,
            ),
            // No line moves.
            map: null,
          }),
        },
        renderChunk(code, { fileName }) {
          const from = dirname(join(into, fileName))
          const placed = code.replace(ADDRESS, (_, source: string) => {
            const place = relative(from, placeOf(source)).replaceAll('\\', '/')
            return `new URL(${JSON.stringify(place)}, import.meta.url).href`
          })
          return { code: placed, map: null }
        },
      },
    ],
  })
  await made.write({
    dir: into,
    entryFileNames: `[name].mjs`,
    chunkFileNames: `chunks/[name]-[hash].mjs`,
    comments: false,
    // V8 keeps a source with one character beyond Latin-1 in two bytes for each.
    charset: 'ascii',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap,
  })
  await made.close()
}
