/** A call of every MCP tool, and a base in which they succeed. */
import { ACCOUNT, NAMED_ONLY, GENERIC as OF_ANY_BASE } from '../../src/mcp/plinth-provider.ts'
import { succeed } from './answers.ts'
import type { Body, TestServer } from './server.ts'

export type Args = Record<string, unknown>
/** A tool with arguments that succeed, and with ones that are refused. In this order, on a base of its own. */
export type Calls = readonly (readonly [tool: string, good: Args, wrong: Args])[]

const ONE = { record_type: 'deal', id: 'd1' }
const FILE = { file_type: 'docs', path: 'a.md' }
const ENDS = { source_record_type: 'deal', source_id: 'd1', target_record_type: 'deal', target_id: 'd2' }

export const LEAN: Calls = [
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
export const GENERIC: Calls = [
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
export const TYPED: Calls = [
  ['create_deal', { title: 'typed', amout: 2 }, { amount: 2 }],
  ['create_note', { text: 'x' }, { txt: 'x' }],
]
export const ADMINISTRATION: Calls = [
  ['list_bases', {}, { limit: 0 }],
  ['put_base', { name: 'Twin' }, { settings: { trash_days: -1 } }],
  ['delete_definition', { kind: 'record_type', id: 'note' }, { kind: 'record_type', id: 'absent' }],
]

/** Those that no list names, but that every address has. */
const unlisted = (base: string): readonly (readonly [tool: string, good: Args])[] => [
  ['preview', { action: 'create', name: 'new' }],
  ['propose', { from: `${base}--dev` }],
  ['review', { from: `${base}--drafts`, verdict: 'comment', text: 'x' }],
  ['promote', { from: `${base}--dev` }],
  ['rollback_promotion', { promotion_id: 'absent' }],
  ['whoami', {}],
  ['configuration', { kind: 'trigger' }],
  ['configure', { kind: 'trigger', id: 't', fields: { url: 'https://hooks.invalid/' } }],
  ['run_action', { id: 'absent' }],
]
/** Those of addresses that name them. */
const KNOWLEDGE: readonly (readonly [tool: string, good: Args])[] = [
  ['search', { query: 'first' }],
  ['fetch', { id: 'deal/d1' }],
]

const schema = (properties: object, more = {}) => ({ json_schema: { type: 'object', properties, ...more } })
/** Makes a base in which they succeed in this order. */
export async function fillForTools(server: TestServer, id: string): Promise<void> {
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

/** A call that succeeds, and the same as a dry run where the tool has one. */
export type ToolRow = { path: string; tool: string; args: Args; dry: Args }
const TOOLS = new Map([...OF_ANY_BASE, ...ACCOUNT, ...NAMED_ONLY].map((tool) => [tool.name, tool]))
export const TOOL_NAMES: readonly string[] = [...TOOLS.keys()]

/** Every tool at every kind of address of a base that `fillForTools` has made, with the change-set `drafts` and the preview `dev`. */
export function toolRows(base: string): ToolRow[] {
  const shared = [...GENERIC, ...unlisted(base)]
  const samples: [path: string, calls: readonly (readonly [string, Args, ...unknown[]])[]][] = [
    [`/mcp/${base}`, [...shared, ...TYPED]],
    ['/mcp', [...shared, ...ADMINISTRATION]],
    [`/mcp/${base}?tools=search,fetch`, KNOWLEDGE],
    [`/mcp/${base}?profile=lean`, KNOWLEDGE.slice(0, 1)],
  ]
  return samples.flatMap(([path, calls]) =>
    calls.map(([tool, sample]) => {
      const properties: Body = TOOLS.get(tool)?.define(false).inputSchema.properties ?? { dry_run: {} }
      const isOfBase = path === '/mcp' && tool !== 'list_bases'
      const args = { ...(isOfBase && { base_id: base }), ...sample }
      return { path, tool, args, dry: { ...args, ...('dry_run' in properties && { dry_run: true }) } }
    }),
  )
}
