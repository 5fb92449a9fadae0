/** Builds the explorer into `dist/web`: a page, and hashed files that are stored compressed. Then the views of the chat. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { buildViews } from './build-views.ts'

const OUT = join(import.meta.dirname, '../dist/web')
const compress = promisify(brotliCompress)

/** The server sends brotli to nearly all browsers, and unpacks it for the rest. */
const compressed: Plugin = {
  name: 'compressed',
  async closeBundle() {
    const folder = join(OUT, 'assets')
    for (const name of await readdir(folder)) {
      const file = join(folder, name)
      await writeFile(`${file}.br`, await compress(await readFile(file)))
      await rm(file)
    }
    await buildViews(join(OUT, 'views'))
  },
}

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  logLevel: 'warn',
  plugins: [compressed],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows no `data:` addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Packages of React mark parts for servers that render pages.
      onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    },
  },
})
