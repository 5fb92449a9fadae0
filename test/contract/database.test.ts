import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cloneDatabase } from '../support/database.ts'

const textOf = (pattern: string, exclude: readonly string[] = []) =>
  globSync(pattern, { exclude })
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

const models = () => [...textOf('prisma/models/*.prisma').matchAll(/^model (\w+) \{\n(.*?)^\}/gms)]

/** The columns of the Prisma models as `table.column type null?`. */
function modelled(): string[] {
  return models().flatMap(([, , body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1]
    return body.split('\n').flatMap((line) => {
      const [, name, type, optional] = /^\s{2}(\w+)\s+(\w+(?:\("\w+"\))?)(\?|\[\])?/.exec(line) ?? []
      const native = type && columnType(type, line)
      if (!name || !native) return []
      return [
        `${table}.${/@map\("(\w+)"\)/.exec(line)?.[1] ?? name} ${optional === '[]' ? 'ARRAY' : native}${optional === '?' ? ' null' : ''}`,
      ]
    })
  })
}

function columnType(type: string, line: string): string | undefined {
  if (type === 'Json') return line.includes('@db.Json') ? 'json' : 'jsonb'
  if (line.includes('@db.Uuid')) return 'uuid'
  const types: Record<string, string> = {
    String: 'text',
    Int: 'integer',
    BigInt: 'bigint',
    Boolean: 'boolean',
    Bytes: 'bytea',
    DateTime: 'timestamp with time zone',
    'Unsupported("xid8")': 'xid8',
  }
  return types[type]
}

test('the Prisma models and the migrations define the same columns', { tags: 'full' }, async () => {
  const database = await cloneDatabase()
  const rows = await database.query<{
    table_name: string
    column_name: string
    data_type: string
    is_nullable: string
  }>(
    `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
     WHERE table_schema = 'plinth' AND table_name NOT LIKE '\\_%'`,
  )
  const migrated = rows.map(
    (row) =>
      `${row.table_name}.${row.column_name} ${row.data_type}${row.is_nullable === 'YES' ? ' null' : ''}`,
  )
  expect(modelled().sort()).toEqual(migrated.sort())
  await database.drop()
})

test('the Prisma client has the models that its queries name, and no other', () => {
  const queries = textOf('src/**/*.ts', ['src/engine/prisma/**'])
  const isAsked = (model: string) =>
    new RegExp(`\\.${model[0]?.toLowerCase()}${model.slice(1)}\\b`).test(queries)
  const [named, unnamed] = [true, false].map((ignored) =>
    models()
      .filter(([, , body = '']) => body.includes('@@ignore') !== ignored)
      .map(([, model = '']) => model),
  )
  expect(named?.filter((model) => !isAsked(model))).toEqual([])
  expect(unnamed?.length).toBeGreaterThan(20)
})
