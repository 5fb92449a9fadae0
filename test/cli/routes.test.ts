import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Noun, nameOf, type Row } from '../../src/cli/command/command.ts'
import { ROUTES, STREAMS } from '../../src/rest/plugin.ts'

/** Routes that another command covers. */
const COVERED: Readonly<Record<string, string>> = {
  'POST /:/records/:/query': 'the GET of the list',
  'POST /:/relationships': 'relationship put',
  'GET /:/mcp/tools': 'mcp tools',
  'GET /:/export': 'base export',
  'PUT /bases/:/import': 'base import',
  'GET /:/openapi.json': 'gen openapi',
  'POST /tokens/self/sign-in-codes': 'open',
  'GET /diagnostics': 'doctor',
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

type Schema = {
  $ref?: string
  properties?: Record<string, unknown>
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Operation = {
  operationId?: string
  parameters?: { in: string; name: string }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
const described = JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

function fieldsOf({ $ref, properties = {}, allOf = [], anyOf = [], oneOf = [] }: Schema): string[] {
  const named = $ref && described.components.schemas[$ref.replace('#/components/schemas/', '')]
  const parts = [...allOf, ...anyOf, ...oneOf, ...(named ? [named] : [])]
  return [...Object.keys(properties), ...parts.flatMap(fieldsOf)]
}

/** What a request takes that no option has, and why. */
const WITHOUT_OPTION: Readonly<Record<string, string>> = {
  expected_version: '--if-match',
  id: 'an argument',
  version: 'tolerated where it is the current one',
  created_at: 'tolerated where it is the current one',
  updated_at: 'tolerated where it is the current one',
}
/** The same of one route. */
const WITHOUT_OPTION_IN: Readonly<Record<string, string>> = {
  'GET /:/config format': 'the command prints YAML itself, and JSON with --json',
  'GET /:/record-types/:/infer from': 'it has one value, the default',
  'POST /:/review-requests kind': 'it has one value, the default',
  'POST /:/records/:/:/attachments file': '--content-base64 of --file',
}

test('every query parameter and body field of REST has an option', () => {
  const missing = Object.entries(described.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => {
      const route = plain(method.toUpperCase(), path.replace(/^\/v1/, '').replace(/\{\w+\}/g, ':x'))
      const commands = rows.filter((row) => reached(row).includes(route))
      if (commands.length === 0) return []
      const taken = new Set<string | undefined>([
        ...commands.flatMap(({ argument = '', query = {} }) => [nameOf(argument), ...Object.keys(query)]),
        ...commands.flatMap(({ options }) => options.flatMap(({ to }) => Object.values(to) as string[])),
      ])
      // The body of these is a file.
      const hasFile = commands.some(({ file, transfer }) => file ?? transfer)
      const body = hasFile ? [] : Object.values(requestBody?.content ?? {})
      const names = new Set([
        ...parameters.filter((each) => each.in === 'query').map(({ name }) => name),
        ...body.flatMap(({ schema = {} }) => fieldsOf(schema)),
      ])
      return [...names].filter((name) => !taken.has(name)).map((name) => `${route} ${name}`)
    }),
  )
  const isKnown = (each: string) =>
    each in WITHOUT_OPTION_IN || (each.split(' ').at(-1) ?? '') in WITHOUT_OPTION
  expect(missing.filter((each) => !isKnown(each))).toEqual([])
  expect(Object.keys(WITHOUT_OPTION_IN).filter((each) => !missing.includes(each))).toEqual([])
})

test('no option of a command has the name of an option of all commands, which would take its value', () => {
  const flags = rows.flatMap(({ options }) => options.map(({ flags }) => flags.split(' ', 1)[0]))
  expect(flags.length).toBeGreaterThan(100)
  expect(flags.filter((flag) => ['--url', '--token', '--base', '--json'].includes(flag ?? ''))).toEqual([])
})
