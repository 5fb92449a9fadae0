/** The README's walk-through and the shell examples of the guides run as they are printed. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GUIDES } from '../../src/http/guides.ts'
import { openServer, type TestServer } from '../support/server.ts'

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))
const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0)

/** Their examples start servers of their own. */
const UNRUN = ['operations', 'logs', 'performance']

let server: TestServer
let directory: string
beforeAll(async () => {
  server = await openServer()
  directory = await mkdtemp(join(tmpdir(), 'plinth-docs-'))
})
afterAll(async () => {
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

const blocksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')

/** The README gets its token from the data directory; the test's server has none, so both are given here. */
async function run(script: string): Promise<{ code: number | null; output: string }> {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name)),
  )
  const env = {
    ...own,
    URL: server.url,
    TOKEN: server.adminToken,
    PLINTH_URL: server.url,
    PLINTH_TOKEN: server.adminToken,
  }
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

describe.runIf(hasShell)('shell examples', () => {
  test('the README runs from the first base to the last page, and only its mistakes are refused', {
    timeout: 120_000,
  }, async () => {
    const readme = await readFile('README.md', 'utf8')
    const walk = readme.slice(readme.indexOf('### 1.'), readme.indexOf('### 6.'))
    const helpers = blocksOf(readme).flatMap((block) => block.match(/^api\(\) .*$/m) ?? [])
    const functions = walk.match(/^mcp\(\) \{.*?\n.*?\}$/ms)?.[0] ?? ''
    expect([helpers.length, functions.length > 0]).toEqual([1, true])
    for (const block of blocksOf(walk)) {
      const { code, output } = await run(`${helpers[0]}\n${functions}\n${block}`)
      const isMistake = block.includes('"titel"')
      expect([block, code, output]).toEqual([block, 0, expect.any(String)])
      expect([block, output, /"error":|isError":true/.test(output)]).toEqual([block, output, isMistake])
    }
  })

  test.each(GUIDES.map(({ name }) => name).filter((name) => !UNRUN.includes(name)))(
    'the example at the top of docs/%s.md runs',
    async (name) => {
      const [first] = blocksOf(await readFile(`docs/${name}.md`, 'utf8'))
      if (first === undefined)
        return expect(['architecture', 'batch', 'endpoints', 'errors', 'glossary']).toContain(name)
      const { code, output } = await run(first)
      expect([output, code]).toEqual([output, 0])
      expect(output).not.toMatch(/"error":|"isError":true/)
    },
  )
})
