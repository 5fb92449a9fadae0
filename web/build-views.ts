/** Builds the views of the chat: each is one page without a request, with Preact in place of React. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'

const VIEWS = ['decide', 'records', 'changes']
const SOURCES = join(import.meta.dirname, 'src/views')

/** The shared parts get the words of the views, not those of the explorer. */
const ownWords: Plugin = {
  name: 'words of views',
  enforce: 'pre',
  resolveId: (id) => (/\/words\.ts$/.test(id) ? join(SOURCES, 'words.ts') : undefined),
}

export async function buildViews(into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  for (const view of VIEWS) await writeFile(join(into, `${view}.html`), await pageOf(view))
}

async function pageOf(view: string): Promise<string> {
  const made = await build({
    configFile: false,
    root: import.meta.dirname,
    publicDir: false,
    logLevel: 'warn',
    plugins: [ownWords],
    resolve: {
      alias: [
        { find: /^react\/jsx-(dev-)?runtime$/, replacement: 'preact/jsx-runtime' },
        { find: /^react$/, replacement: join(SOURCES, 'react.ts') },
      ],
    },
    build: {
      write: false,
      target: 'es2023',
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { input: join(SOURCES, `${view}.tsx`), output: { codeSplitting: false } },
    },
  })
  const output = [made].flat().flatMap((each) => ('output' in each ? each.output : []))
  const code = output.map((each) => (each.type === 'chunk' ? each.code : '')).join('')
  const style = output.map((each) => (each.fileName.endsWith('.css') && 'source' in each ? each.source : ''))
  // No text of a script or style can end it.
  const safe = (text: string) => text.replaceAll('</', '<\\/')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="plinth-page-key" content="{{plinth-page-key}}"><title>Plinth</title><style>${style.join('')}</style></head>
<body><main id="view"></main><script type="module">${safe(code)}</script></body></html>
`
}
