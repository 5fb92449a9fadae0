// @module-tag full
/** Every tool of every profile, called by real clients of both eras: each answers both the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { connect } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

type Args = Record<string, unknown>
/** A tool with arguments that succeed, and with ones that are refused. In this order, on a base of its own. */
type Calls = readonly (readonly [tool: string, good: Args, wrong: Args])[]

const ONE = { record_type: 'deal', id: 'd1' }
const FILE = { file_type: 'docs', path: 'a.md' }
const ENDS = { source_record_type: 'deal', source_id: 'd1', target_record_type: 'deal', target_id: 'd2' }

const LEAN: Calls = [
  ['sql_query', { query: 'SELECT id, amount FROM deal ORDER BY id' }, { query: 'SELECT nope FROM deal' }],
  [
    'sql_write',
    { statements: `UPDATE deal SET amount = 7 WHERE id = 'd1'` },
    { statements: 'DROP TABLE deal' },
  ],
  [
    'define',
    { record_type: 'deal', json_schema: { properties: { note: { type: 'string' } } } },
    { record_type: 'deal', json_schema: { type: 'nope' } },
  ],
  ['undo', { actor: 'admin', since: '2026-01-01T00:00:00Z', on_conflict: 'skip' }, { actor: 'admin' }],
  [
    'work',
    { action: 'claim', record_type: 'deal', filter: { field: 'id', op: 'eq', value: 'd2' } },
    { action: 'nope' },
  ],
  ['search', { query: 'first' }, { query: 1 }],
]
const GENERIC: Calls = [
  ['list_types', {}, { limit: 0 }],
  ['describe_type', { record_type: 'deal' }, { record_type: 'dael' }],
  [
    'query_records',
    { record_type: 'deal', sort: 'data.title' },
    { record_type: 'deal', filter: { field: 'id' } },
  ],
  ['get_record', ONE, { ...ONE, id: 'absent' }],
  ['upsert_record', { ...ONE, data: { title: 'new', amout: 1 } }, { ...ONE, data: { title: 5 } }],
  ['update_record', { ...ONE, data: { amount: 3 } }, { ...ONE, data: { amount: 'much' } }],
  ['cancel_record', ONE, { ...ONE, expected_version: 99 }],
  ['link_records', { rel_type: 'follows', ...ENDS }, { rel_type: 'follow', ...ENDS }],
  ['get_related', ONE, { ...ONE, depth: 9 }],
  ['record_history', ONE, { ...ONE, limit: -1 }],
  ['changes', { kind: 'record' }, { kind: 'nope' }],
  [
    'aggregate_records',
    { record_type: 'deal', aggregations: [{ fn: 'sum', field: 'data.amount' }] },
    { record_type: 'deal', aggregations: [{ fn: 'median', field: 'data.amount' }] },
  ],
  [
    'batch',
    { operations: [{ type: 'patch_record', record_type: 'deal', id: 'd1', data: { amount: 4 } }] },
    { operations: [{ type: 'patch_records', record_type: 'deal', id: 'd1' }] },
  ],
  ...LEAN.filter(([tool]) => tool !== 'search'),
  ['delete_record', ONE, { ...ONE, id: 'absent' }],
  ['put_file', { ...FILE, text: 'one\ntwo\n' }, { ...FILE, path: '../a.md', text: 'x' }],
  ['get_file', FILE, { ...FILE, path: 'absent.md' }],
  [
    'edit_file',
    { ...FILE, edits: [{ find: 'two', replace: '2' }] },
    { ...FILE, edits: [{ find: 'no', replace: '' }] },
  ],
  ['list_files', { file_type: 'docs' }, { file_type: 'dcos' }],
  ['move_file', { ...FILE, new_path: 'b.md' }, { ...FILE, new_path: '../b.md' }],
  ['delete_file', { ...FILE, path: 'b.md' }, { ...FILE, path: 'b.md', expected_version: 99 }],
]
const TYPED: Calls = [
  ['create_deal', { title: 'typed', amout: 2 }, { amount: 2 }],
  ['create_note', { text: 'x' }, { txt: 'x' }],
]
const ADMINISTRATION: Calls = [
  ['list_bases', {}, { limit: 0 }],
  ['put_base', { name: 'Twin' }, { settings: { trash_days: -1 } }],
  ['delete_definition', { kind: 'record_type', id: 'note' }, { kind: 'record_type', id: 'absent' }],
]

const schema = (properties: object, more = {}) => ({ json_schema: { type: 'object', properties, ...more } })
let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

async function newBase(id: string): Promise<void> {
  const at = `/v1/${id}`
  const put = async (path: string, body: object) => succeed(await server.call('PUT', path, body), 201)
  await put(`/v1/bases/${id}`, {})
  const deal = schema({ title: { type: 'string' }, amount: { type: 'number' } }, { required: ['title'] })
  await put(`${at}/record-types/deal`, deal)
  await put(`${at}/record-types/note`, schema({ text: { type: 'string' } }, { additionalProperties: false }))
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  await put(`${at}/relationship-types/follows`, ends)
  await put(`${at}/file-types/docs`, {})
  await put(`${at}/records/deal/d1`, { data: { title: 'the first', amount: 1 } })
  await put(`${at}/records/deal/d2`, { data: { title: 'the second', amount: 2 } })
}

/** What may differ between two calls: server ids, times, sealed tokens, sequence numbers, and the base. */
const MASKS: readonly (readonly [RegExp, string | ((all: string, name: string) => string)])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, 'TIME'],
  [/(\\?"(?:plan_token|next_cursor|etag|cursor)\\?":\s*\\?")[^"\\]+/g, '$1TOKEN'],
  [/(\\?"(?:seq|last_seq|next_after|next_before|reverts)\\?":\s*)\d+/g, (_, name: string) => `${name}0`],
  [/(\\?"call\\?":\s*\{\\?"id\\?":\s*\\?")[^"\\]+/g, '$1CALL'],
  [/\b[Cc]hange \d+/g, 'change SEQ'],
  [/twins\d+-(?:v1|modern)/g, 'BASE'],
]
const masked = (value: unknown): unknown =>
  JSON.parse(
    MASKS.reduce(
      (text, [pattern, by]) =>
        typeof by === 'string' ? text.replace(pattern, by) : text.replace(pattern, by),
      JSON.stringify(value),
    ),
  )

const ERAS = ['v1', 'modern'] as const
let bases = 0

const PROFILES = [
  { name: 'a base', path: (base: string) => `/mcp/${base}`, calls: [...GENERIC, ...TYPED], of: () => ({}) },
  {
    name: 'the lean profile',
    path: (base: string) => `/mcp/${base}?profile=lean`,
    calls: LEAN,
    of: () => ({}),
  },
  {
    name: 'all bases',
    path: () => '/mcp',
    calls: [...GENERIC, ...ADMINISTRATION],
    of: (base: string, tool: string) => (tool === 'list_bases' ? {} : { base_id: base }),
  },
]

describe.each(PROFILES)('the tools of $name', ({ path, calls, of }) => {
  test('answer clients of both eras the same, with good arguments and with wrong ones', async () => {
    const set = ++bases
    const baseOf = (era: string) => `twins${set}-${era}`
    for (const era of ERAS) await newBase(baseOf(era))
    const clients = await Promise.all(
      ERAS.map((era) => connect(server.url, server.adminToken, era, path(baseOf(era)))),
    )
    for (const [tool, good, wrong] of calls) {
      // Both at the same time, since some tools show what others did to all bases.
      const play = (args: Args) =>
        Promise.all(
          clients.map((client, n) =>
            client.callTool({ name: tool, arguments: { ...of(baseOf(ERAS[n] ?? ''), tool), ...args } }),
          ),
        )
      // The wrong ones first: they must leave nothing that the good ones would meet.
      for (const [args, isError] of [
        [wrong, true],
        [good, false],
      ] as const) {
        const [older, newer] = await play(args)
        expect(older?.isError ?? false, `${tool}: ${JSON.stringify(older).slice(0, 400)}`).toBe(isError)
        expect(masked(contentOf(newer)), tool).toEqual(masked(contentOf(older)))
      }
    }
    for (const client of clients) await client.close()
  })

  test('are all called by the test', async () => {
    const base = `twins${++bases}-v1`
    await newBase(base)
    for (const era of ERAS) {
      const client = await connect(server.url, server.adminToken, era, path(base))
      const listed = (await client.listTools()).tools.map(({ name }) => name)
      expect(listed.toSorted()).toEqual(calls.map(([name]) => name).toSorted())
      await client.close()
    }
  })
})

/** What a model reads, without what only one protocol has. */
const contentOf = (result: Body | undefined) => ({
  content: result?.content,
  structuredContent: result?.structuredContent ?? null,
  isError: result?.isError ?? false,
})
