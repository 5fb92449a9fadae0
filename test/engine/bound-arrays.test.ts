import { afterAll, beforeAll, expect, test } from 'vitest'
import { shaped } from '../../src/engine/storage/database/client.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await cloneDatabase()
  db = openDatabase(database.url, () => {})
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const ODD = [
  '"',
  '\\',
  '\\"',
  '',
  ' ',
  'NULL',
  'null',
  '{a,b}',
  'a,b',
  "'",
  '\n',
  '😀',
  '\\\\x41',
  '{}',
  '","',
]

test.each([
  ['texts', 'text[]', ODD],
  ['one empty text', 'text[]', ['']],
  ['no element', 'text[]', []],
  ['texts and null', 'text[]', ['a', null, '"']],
  ['numbers', 'float8[]', [0, -1.5, 1e300, 2 ** 53]],
  ['booleans', 'bool[]', [true, false, null]],
  ['lists', 'text[]', [ODD, ODD]],
  ['JSON', 'jsonb[]', ['{"a":"\\"\\\\"}', '[1,2]', '"x"']],
])('an array that is bound arrives as it is: %s', async (_, type, values) => {
  const echo = shaped(`SELECT to_jsonb($1::${type}) AS values`)
  const [row] = await db.query<{ values: unknown }>(echo, [values])
  expect(row?.values).toEqual(type === 'jsonb[]' ? values.map((text) => JSON.parse(String(text))) : values)
})
