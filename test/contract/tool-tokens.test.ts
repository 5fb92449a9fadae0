// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCrm } from '../support/crm.ts'
import { rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { tokensOf, tokensOfTools } from '../support/tokens.ts'

const HOW = 'The printed contract differs. If the change is meant: npm run print'
const COUNTS = [1, 5, 50, 300]

let server: TestServer

beforeAll(async () => {
  server = await openServer()
  for (const count of COUNTS) await createCrm(server, `types-${count}`, count)
})
afterAll(() => server.close())

const INITIALIZE = {
  ...{ protocolVersion: '2025-11-25', capabilities: {} },
  clientInfo: { name: 'test', version: '1' },
}
const listed = async (path: string): Promise<Body[]> =>
  (await rpc(server, path, 'tools/list')).body.result.tools
const instructions = async (path: string): Promise<string> =>
  (await rpc(server, path, 'initialize', INITIALIZE)).body.result.instructions

const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** Tokens of the tools and of the instructions, by address and number of types. */
async function profiles(): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = []
  for (const count of COUNTS)
    for (const option of ['', '?profile=lean', '?types=deal']) {
      if (count === 1 && option === '?types=deal') continue
      const path = `/mcp/types-${count}${option}`
      const tools = await listed(path)
      const typed = tools.filter(({ name }) => /^(create|update)_(?!record)/.test(name)).length
      const cost = [tokensOfTools(tools), tokensOf(await instructions(path))]
      rows.push([`\`/mcp/{base}${option}\``, count, tools.length - typed, typed, ...cost])
    }
  const all = await listed('/mcp')
  rows.push(['`/mcp`', '', all.length, 0, tokensOfTools(all), tokensOf(await instructions('/mcp'))])
  return rows
}

test('schema/tool-tokens.md equals the tokens of the lists of tools', async () => {
  const tools = await listed('/mcp/types-300')
  const all = await listed('/mcp')
  const inBase = new Map(tools.map((tool) => [tool.name, tokensOfTools([tool])]))
  const text = [
    '# Tokens of the tools',
    'Tokens in the encoding o200k of the names, descriptions and input schemas of the listed tools, and of the instructions',
    'that a client gets when it connects. The bases have the same five types of six fields, over and over, and no records.',
    '',
    table(
      ['Address', 'Types', 'Generic tools', 'Type tools', 'Tokens of tools', 'Tokens of instructions'],
      await profiles(),
    ),
    '',
    'Each generic tool at the address of a base, and at `/mcp`, where it takes `base_id`:',
    '',
    table(
      ['Tool', '`/mcp/{base}`', '`/mcp`'],
      all.map((tool) => [`\`${tool.name}\``, inBase.get(tool.name) ?? '', tokensOfTools([tool])]),
    ),
    '',
  ].join('\n')
  await expect(text, HOW).toMatchFileSnapshot('../../schema/tool-tokens.md')
})
