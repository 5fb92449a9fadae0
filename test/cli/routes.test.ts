import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Noun, Row } from '../../src/cli/command/command.ts'
import { ROUTES, STREAMS } from '../../src/rest/plugin.ts'

/** Routes that another command covers. */
const COVERED: Readonly<Record<string, string>> = {
  'POST /:/records/:/query': 'the GET of the list',
  'POST /:/relationships': 'relationship put',
  'GET /:/mcp/tools': 'mcp tools',
  'GET /:/openapi.json': 'gen openapi',
  'POST /tokens/self/sign-in-codes': 'open',
  'GET /:/changes/stream': 'changes --follow',
  'POST /accounts/:/query': 'query-bases, for the account `default`',
}

/** Method and path, with every parameter alike. */
const plain = (method: string, path: string) => `${method} ${path.replace(/:\w+\??|\*/g, ':')}`

const isRow = (value: unknown): value is Row => typeof (value as Row | null)?.path === 'string'
const isNoun = (value: unknown): value is Noun => Array.isArray((value as Noun | null)?.rows)

/** What the rows of a command reach, with and without their optional argument. */
const reached = ({ method, path, pathWithout }: Row) => [
  plain(method, path),
  plain(method, pathWithout ?? path.replace(/\/:\w+\?/, '')),
]

const folder = new URL('../../src/cli/resources/', import.meta.url)
const modules = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<object>),
)
const values = modules.flatMap((module) => Object.values(module) as unknown[])
const rows = values.flatMap((value) => (isNoun(value) ? value.rows : isRow(value) ? [value] : []))

test('every route of REST has a command', () => {
  const commands = new Set(rows.flatMap(reached))
  const routes = [...ROUTES, ...STREAMS].map(({ method, path }) => plain(method, path))
  expect(routes.filter((route) => !commands.has(route) && COVERED[route] === undefined)).toEqual([])
  expect(Object.keys(COVERED).filter((route) => !routes.includes(route))).toEqual([])
})

test('no option of a command has the name of an option of all commands, which would take its value', () => {
  const flags = rows.flatMap(({ options }) => options.map(({ flags }) => flags.split(' ', 1)[0]))
  expect(flags.length).toBeGreaterThan(100)
  expect(flags.filter((flag) => ['--url', '--token', '--base', '--json'].includes(flag ?? ''))).toEqual([])
})
