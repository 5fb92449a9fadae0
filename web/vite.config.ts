/** Builds the explorer into `dist/web`: a page, and hashed files that are stored compressed. Then the views of the chat. */
import { rmSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { buildViews } from './build-views.ts'

const OUT = join(import.meta.dirname, '../dist/web')
/** Several servers that start at once build it: each in a folder of its own, which then takes the place of the last. */
const DRAFT = `${OUT}-${process.pid}`
// A build that fails leaves nothing.
process.once('exit', () => rmSync(DRAFT, { recursive: true, force: true }))
const compress = promisify(brotliCompress)

/** The server sends brotli to nearly all browsers, and unpacks it for the rest. */
const compressed: Plugin = {
  name: 'compressed',
  async writeBundle() {
    const folder = join(DRAFT, 'assets')
    for (const name of await readdir(folder)) {
      const file = join(folder, name)
      await writeFile(`${file}.br`, await compress(await readFile(file)))
      await rm(file)
    }
    await buildViews(join(DRAFT, 'views'))
    await takePlace()
  },
}

async function takePlace(): Promise<void> {
  await rm(OUT, { recursive: true, force: true })
  await rename(DRAFT, OUT).catch((error: NodeJS.ErrnoException) => {
    // Another build has taken it in between, of the same sources.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  logLevel: 'warn',
  plugins: [compressed],
  build: {
    outDir: DRAFT,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows no `data:` addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // Packages of React mark parts for servers that render pages.
      onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    },
  },
})
