/** The examples of the documentation, run by bash and curl as they are printed. */
import { spawn, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))
export const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0)

export const blocksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')

/** Where examples run. The README gets its token from the data directory; the server of a test has none there. */
export type ExamplePlace = { url: string; token: string; directory: string }

export async function runExample(
  { url, token, directory }: ExamplePlace,
  script: string,
  settings = {},
): Promise<{ code: number | null; output: string }> {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name)),
  )
  const env = { ...own, URL: url, TOKEN: token, PLINTH_URL: url, PLINTH_TOKEN: token, ...settings }
  const prelude = `set -euo pipefail\nnpx() { shift; '${process.execPath}' '${BIN}' "$@"; }\n`
  const child = spawn('bash', ['-c', prelude + script], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, output }
}

/** The README's walk-through runs, and only its mistakes are refused. */
export async function walkThroughReadme(place: ExamplePlace): Promise<void> {
  const readme = await readFile('README.md', 'utf8')
  const walk = readme.slice(readme.indexOf('### 1.'), readme.indexOf('### 6.'))
  const helpers = blocksOf(readme).flatMap((block) => block.match(/^api\(\) .*$/m) ?? [])
  const functions = walk.match(/^mcp\(\) \{.*?\n.*?\}$/ms)?.[0] ?? ''
  expect([helpers.length, functions.length > 0]).toEqual([1, true])
  for (const block of blocksOf(walk)) {
    const { code, output } = await runExample(place, `${helpers[0]}\n${functions}\n${block}`)
    const isMistake = block.includes('"titel"')
    expect([block, code, output]).toEqual([block, 0, expect.any(String)])
    expect([block, output, /"error":|isError":true/.test(output)]).toEqual([block, output, isMistake])
  }
}
