/** Bundles the sources: a start then loads a few dozen files instead of two thousand. */
import { dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'src')
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
    sourcemap,
  })
  await made.close()
}
