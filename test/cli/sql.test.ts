import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let folder: string
let settings: Settings
beforeAll(async () => {
  world = await openWorld()
  folder = await mkdtemp(join(tmpdir(), 'plinth-cli-sql-'))
  settings = {
    PLINTH_URL: world.url,
    PLINTH_TOKEN: world.adminToken,
    PLINTH_BASE: 'crm',
    // A data directory without a server: a command must not use the server of a developer.
    PLINTH_DATA_DIR: join(folder, 'none'),
  }
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => plinth(['sql', ...args], settings)

test('`sql` prints rows as a table, or the API response with --json', { tags: 'full' }, async () => {
  const { code, out, err } = await run(`SELECT 1 AS one, 'x' AS letter UNION ALL SELECT 2, NULL ORDER BY one`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toBe('one\tletter\n1\tx\n2\t-\n')
  const json = await run('SELECT 1 AS one', '--json')
  expect(JSON.parse(json.out)).toMatchObject({ data: [{ one: 1 }], meta: { rows: 1, has_more: false } })
})

test('`sql` accepts parameters by name or as JSON, but not both', { tags: 'full' }, async () => {
  const named = await run(
    'SELECT :a::int + :b::int AS sum, :c AS text',
    '--param',
    'a=1',
    '--param',
    'b=2',
    '--param',
    'c=x=y',
  )
  expect(named).toEqual({ code: 0, out: 'sum\ttext\n3\tx=y\n', err: '' })
  expect((await run('SELECT $1::int AS one', '--params', '[7]')).out).toBe('one\n7\n')
  const both = await run('SELECT :a', '--param', 'a=1', '--params', '{"a":1}')
  expect(both).toMatchObject({ code: 2, out: '' })
})

test('`sql --limit` cuts the rows and says that there are more', { tags: 'full' }, async () => {
  const { code, out, err } = await run('SELECT i FROM generate_series(1, 5) AS i', '--limit', '2')
  expect({ code, out }).toEqual({ code: 0, out: 'i\n1\n2\n' })
  expect(err).toContain('more')
})

test('a refused statement is printed with its code on standard error only', async () => {
  const { code, out, err } = await run('DELETE FROM deal')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain('VALIDATION_ERROR')
})

test('`sql-write` writes in one transaction, and shows the plan of a deletion first', {
  tags: 'full',
}, async () => {
  const write = (...args: string[]) => plinth(['sql-write', ...args], settings)
  await world.call('PUT', '/v1/crm/record-types/memo', {
    json_schema: { properties: { text: { type: 'string' } } },
  })
  const done = await write(
    `INSERT INTO memo (id, text) VALUES ('m1', :text), ('m2', 'Two') RETURNING id; UPDATE memo SET text = 'x' WHERE id = 'm1'`,
    '--param',
    'text=One',
  )
  expect(done).toEqual({ code: 0, out: 'id\nm1\nm2\n', err: 'insert: 2 rows\nupdate: 1 row\n' })
  const plan = await write('DELETE FROM memo')
  expect(plan.code).toBe(0)
  expect(plan.err).toContain('Deletes 2 records (2 memo). Nothing is deleted yet.')
  const [, token = ''] = /--plan-token (\S+)/.exec(plan.err) ?? []
  expect((await write('DELETE FROM memo', '--plan-token', token)).err).toBe('delete: 2 rows\n')
  const refused = await write(`UPDATE memo SET status = 'x'`)
  expect({ code: refused.code, isNamed: refused.err.includes('/statements/0') }).toEqual({
    code: 1,
    isNamed: true,
  })
})

test('a statement is read from a file with @, and from standard input with -', { tags: 'full' }, async () => {
  const file = join(folder, 'query.sql')
  await writeFile(file, '\ufeffSELECT :a::int AS one\n')
  expect(await run(`@${file}`, '--param', 'a=7')).toEqual({ code: 0, out: 'one\n7\n', err: '' })
  expect(await plinth(['sql', '-'], settings, 'SELECT 8 AS one')).toMatchObject({ code: 0, out: 'one\n8\n' })
  expect(await run(`@${join(folder, 'absent.sql')}`)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/<query>: the file ".*absent\.sql" cannot be read \(ENOENT\)/),
  })
  const both = await plinth(['sql', '-', '--params', '-'], settings, 'SELECT 1')
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining('cannot both read standard input') })
  const write = await plinth(['sql-write', '-'], settings, 'SELECT 9 AS one')
  expect(write).toMatchObject({ code: 0, out: 'one\n9\n' })
})

test('`whoami` shows the token in use', async () => {
  const { code, out } = await plinth(['whoami', '--json'], settings)
  expect([code, JSON.parse(out).grants]).toEqual([0, [expect.objectContaining({ permission: 'admin' })]])
})
