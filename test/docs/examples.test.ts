// @module-tag full
/** The README's walk-through and the shell examples of the guides run as they are printed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GUIDES } from '../../src/http/guides.ts'
import { freePort } from '../../src/postgres/windows.ts'
import { cloneDatabase } from '../support/database.ts'
import { openServer, type TestServer } from '../support/server.ts'
import { blocksOf, hasShell, runExample, walkThroughReadme } from '../support/shell-examples.ts'

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))

/** Their examples start a server. */
const STARTING = ['operations', 'logs']
/** `performance` begins with the benchmark, which takes minutes; the other pages have no example. */
const UNRUN = ['performance', 'architecture', 'glossary', 'scaling', 'publishing']

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

const run = (script: string, settings = {}) =>
  runExample({ url: server.url, token: server.adminToken, directory }, script, settings)

describe.runIf(hasShell)('shell examples', () => {
  test(
    'the README runs from the first base to the last page, and only its mistakes are refused',
    {
      timeout: 600_000,
    },
    () => walkThroughReadme({ url: server.url, token: server.adminToken, directory }),
  )

  test('every recipe of the cookbook runs', { timeout: 600_000 }, async () => {
    const [first = '', ...recipes] = blocksOf(await readFile('docs/cookbook.md', 'utf8'))
    const helper = first.match(/^api\(\) .*$/m)?.[0] ?? expect.unreachable('the cookbook defines its helper')
    expect(recipes.length).toBeGreaterThan(11)
    for (const block of [first, ...recipes]) {
      const { code, output } = await run(`${helper}\n${block}`)
      expect([block, code, output]).toEqual([block, 0, expect.not.stringContaining('"error":')])
    }
  })

  /** The first shell example of a guide, above its first section. */
  const exampleOf = async (name: string): Promise<string> => {
    const [start = ''] = (await readFile(`docs/${name}.md`, 'utf8')).split('\n## ')
    const [example] = blocksOf(start)
    if (!example) throw new Error(`docs/${name}.md does not begin with an example`)
    return example
  }

  const names = GUIDES.map(({ name }) => name)
  test.each(names.filter((name) => ![...UNRUN, ...STARTING].includes(name)))(
    'the example at the top of docs/%s.md runs',
    async (name) => {
      const { code, output } = await run(await exampleOf(name))
      expect([output, code]).toEqual([output, 0])
      expect(/"error":|"isError":true/.test(output), output).toBe(name === 'errors')
    },
  )

  test.each(STARTING)('the example at the top of docs/%s.md starts a server', async (name) => {
    const database = await cloneDatabase()
    // Other settings than the page has: a free port, a directory and a database of the test.
    const example = (await exampleOf(name))
      .replaceAll('4000', String(await freePort()))
      .replaceAll('/var/lib/plinth', directory)
    // The file may hold the ready line of the example before, until the server of this one opens it.
    const npm = `npm() {
        rm -f ready
        PLINTH_PORT="\${PLINTH_PORT:-0}" '${process.execPath}' '${BIN}' serve > ready & trap "kill $!; wait $!" EXIT
        until grep -qs '^plinth ready' ready; do kill -0 $!; sleep 0.2; done
      }`
    const settings = { PLINTH_DATA_DIR: directory, DATABASE_URL: database.url }
    const { code, output } = await run(`${npm}\n${example}`, settings)
    expect([output, code]).toEqual([output, 0])
    await database.drop()
  })
})
