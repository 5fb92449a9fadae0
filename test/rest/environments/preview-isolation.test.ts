// @module-tag full
/** A write in a preview changes and shows nothing in its production, and the other way round, through every door. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import tools from '../../../schema/tools.json' with { type: 'json' }
import { ROUTES } from '../../../src/rest/plugin.ts'
import { succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../../support/route-samples.ts'
import { bytesOf, newKeys, senderOf } from '../../support/s3.ts'
import { openStream } from '../../support/sse.ts'
import { openWorld, type World } from '../../support/world.ts'

/** Each base is written in one of its environments only, the other one stays as it was filled. */
const PRODUCTIONS = ['shop', 'mart'] as const
/** What the data and the configuration of an environment say. */
const noteOf = (base: string) => (base.includes('--') ? 'previewonly' : 'productiononly')

let world: World
const filled = new Map<string, FilledBase>()
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  for (const production of PRODUCTIONS) {
    succeed(await world.call('PUT', `/v1/bases/${production}`, {}), 201)
    succeed(await world.call('POST', `/v1/${production}/preview`, { name: 'dev' }), 201)
    for (const base of [production, `${production}--dev`])
      filled.set(base, await fillBase(world, base, noteOf(base)))
  }
})
afterAll(() => world.close())

const tablesWith = (column: string) =>
  world.database.query<{ table: string }>(
    `SELECT c.relname AS "table" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'plinth'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = $1 ORDER BY 1`,
    [column],
  )

/** A digest of the rows of a base, by table. */
async function rowsOf(base: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  const tables = (await tablesWith('base_id')).map(({ table }) => [table, 'base_id'])
  for (const [table, column] of [...tables, ['base', 'id']]) {
    const [row] = await world.database.query<{ rows: string }>(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM plinth.${table} t WHERE ${column} = $1`,
      [base],
    )
    digests[table as string] = row?.rows ?? ''
  }
  return digests
}

/** Without how far a job has read the log of the base: it may still come to what was done there before. */
async function ownRowsOf(base: string): Promise<Record<string, string>> {
  const { trigger_relay: _, ...rows } = await rowsOf(base)
  return rows
}

const isDeletion = ({ method }: { method: string }) => method === 'DELETE'
const ofBase = ROUTES.filter(({ path }) => path.startsWith('/:base_id/'))
/** Deletions come last, so that what the other requests need exists. */
const ordered = [...ofBase.filter((row) => !isDeletion(row)), ...ofBase.filter(isDeletion)]

/** Runs work in a base. Asserts that no row of the other one changes, and that the answer shows nothing of it. */
async function outOf(other: string, work: () => Promise<string>): Promise<string> {
  // A reader of usage stores that of all bases, which is of what was done before.
  await world.call('GET', '/v1/none/usage')
  const before = await ownRowsOf(other)
  const text = await work()
  expect(text).not.toContain(noteOf(other))
  expect(await ownRowsOf(other)).toEqual(before)
  return text
}

/** For every tool a call that succeeds in a filled base, in this order. */
const TOOL_CALLS: readonly [name: string, args: Record<string, unknown>][] = [
  ['list_types', {}],
  ['describe_type', { record_type: 'task' }],
  ['query_records', { record_type: 'task', expand: ['near'] }],
  ['get_record', { record_type: 'task', id: 'a' }],
  ['aggregate_records', { record_type: 'task', aggregations: [{ fn: 'count' }], group_by: ['data.note'] }],
  ['get_related', { record_type: 'collections', id: 'documents' }],
  ['record_history', { record_type: 'task', id: 'a' }],
  ['changes', {}],
  ['sql_query', { query: 'SELECT * FROM task' }],
  ['search', { query: 'previewonly productiononly' }],
  ['fetch', { id: 'task/a' }],
  ['list_files', { file_type: 'desk' }],
  ['get_file', { file_type: 'desk', path: 'a.txt' }],
  ['preview', { action: 'list' }],
  ['define', { record_type: 'made', description: 'by a tool' }],
  ['upsert_record', { record_type: 'task', id: 'tool', data: { n: 1 } }],
  ['create_task', { n: 2 }],
  ['update_record', { record_type: 'task', id: 'tool', data: { n: 3 } }],
  [
    'link_records',
    {
      ...{ rel_type: 'far', source_record_type: 'task', source_id: 'tool' },
      ...{ target_record_type: 'task', target_id: 'a' },
    },
  ],
  ['batch', { operations: [{ type: 'create_record', record_type: 'task', data: {} }] }],
  ['sql_write', { statements: `UPDATE task SET data = '{"n":4}' WHERE id = 'tool'` }],
  ['put_file', { file_type: 'desk', path: 'tool.txt', text: 'one' }],
  ['edit_file', { file_type: 'desk', path: 'tool.txt', edits: [{ find: 'one', replace: 'two' }] }],
  ['move_file', { file_type: 'desk', path: 'tool.txt', new_path: 'moved.txt' }],
  ['delete_file', { file_type: 'desk', path: 'moved.txt' }],
  ['work', { action: 'claim', record_type: 'task' }],
  ['undo', {}],
  ['configuration', { kind: 'action' }],
  ['configure', { kind: 'action', id: 'desk', fields: { description: 'by a tool' } }],
  ['run_action', { id: 'desk' }],
  ['whoami', {}],
  ['cancel_record', { record_type: 'task', id: 'tool' }],
  ['delete_record', { record_type: 'task', id: 'tool' }],
]
/** Tools that are called where the address names them only. */
const NAMED = new Set(['search', 'fetch'])
/** They compare or change both sides on purpose. */
const OF_BOTH = ['propose', 'promote', 'rollback_promotion', 'review']

/** The routes whose samples need what a filled base does not have, or that only one side has. */
const REFUSED =
  /preview|promot|discard|submit|reopen|reviews|review-requests|\/config$|:run_id|:delivery_id|seeds|revert|complete|tokens.*(?:pause|resume)|triggers.*test/

describe.each([
  ['shop--dev', 'shop'],
  ['mart', 'mart--dev'],
])('what is done in %s stays out of %s', (base, other) => {
  const own = noteOf(base)

  test('by every tool', async () => {
    const named = TOOL_CALLS.map(([name]) => name)
    const published = [tools['/mcp/{base_id}'], tools['/mcp/{base_id}?tools=search,fetch']].flat()
    const all = published.map(({ name }) => name).filter((name) => !OF_BOTH.includes(name))
    expect([...named].sort()).toEqual([...all, 'create_task'].sort())
    let seen = 0
    for (const [name, args] of TOOL_CALLS)
      await outOf(other, async () => {
        const call = (given: Record<string, unknown>) =>
          callTool(world, `/mcp/${base}${NAMED.has(name) ? `?tools=${name}` : ''}`, name, given, {
            token: world.adminToken,
          })
        const last = `/v1/${base}/changes?order=desc&limit=1`
        const { data } = succeed(await world.call('GET', last))
        const first = await call(name === 'undo' ? { seq: data[0].seq } : args)
        const plan = first.body?.plan_token
        const { text, error, rpcError } = plan ? await call({ plan_token: plan }) : first
        expect([name, error, rpcError]).toEqual([name, undefined, undefined])
        if (text.includes(own)) seen++
        return first.text + text
      })
    expect(seen).toBeGreaterThan(8)
  })

  test('by GraphQL, S3 and streams', async () => {
    const stream = await openStream(world, `/v1/${other}/changes/stream`)
    const ask = async (query: string) =>
      outOf(other, async () => {
        const { body, text } = await world.call('POST', `/graphql/${base}`, { query })
        expect(body.errors, text).toBeUndefined()
        return text
      })
    expect(await ask('{ taskRecords { nodes { id _data } } }')).toContain(own)
    await ask('mutation { createTask(id: "graphql", data: {}) { operation } }')
    const send = senderOf(await newKeys(world, {}, { base }))
    await outOf(other, async () => {
      const listed = JSON.stringify(await send('ListObjectsV2'))
      expect(listed).toContain('a.txt')
      await send('PutObject', { Key: 'desk/s3.txt', Body: 'from s3' })
      const found = await send('GetObject', { Key: 'desk/a.txt' })
      return listed + (await bytesOf(found)).toString()
    })
    succeed(await world.call('PUT', `/v1/${other}/records/task/streamed`, { data: {} }), 201)
    const [event] = await stream.until(1)
    expect(event?.data).toMatchObject({ id: 'streamed' })
    stream.cut()
  })

  test('by every route', async () => {
    const samples = routeSamples(base)
    const place = filled.get(base) as FilledBase
    const refused: string[] = []
    for (const row of ordered) {
      const path = row.path
        .replace('*', 'a.txt')
        .replaceAll(/:([a-z_]+)/g, (_, name: string) => routeValues(row.path, place)[name] ?? '')
      // Production has the kinds of previews in another preview.
      // It asks production on purpose.
      if (!path.startsWith(`/${base}/`) || row.id === 'POST /:base_id/submit') continue
      await outOf(other, async () => {
        const { query = '', body } = samples[row.id] ?? {}
        const { status, text } = await world.call(row.method, `/v1${path}?${query}`, body)
        if (status >= 300 && !isDeletion(row) && !REFUSED.test(row.id)) refused.push(`${row.id} ${text}`)
        return text
      })
    }
    // They succeed, so that they could do harm.
    expect(refused).toEqual([])
  })
})

test('a deleted preview leaves no row in any table', async () => {
  const preview = 'mart--dev'
  const left = async (of: string) =>
    Object.entries(await rowsOf(of))
      .filter(([, rows]) => !rows.startsWith('0 '))
      .map(([table]) => table)
  expect((await left(preview)).length).toBeGreaterThan(10)
  succeed(await world.call('DELETE', `/v1/bases/${preview}?confirm=${preview}`))
  // A job deletes the entries of indexes.
  await expect.poll(() => left(preview)).toEqual([])
})
