import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { expect, test } from 'vitest'
import { overlaid } from '../../src/engine/core/change-set/overlay.ts'
import { type Statement, shaped } from '../../src/engine/storage/database/client.ts'
import { cloneDatabase } from '../support/database.ts'

const isStatement = (value: unknown): value is Statement =>
  typeof value === 'object' && value !== null && 'name' in value && 'text' in value

/** The statements of a value that a module exports: itself, or the variants of a write. */
function statementsIn(value: unknown): Statement[] {
  if (isStatement(value)) return [value]
  if (Array.isArray(value)) return value.flatMap(statementsIn)
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain
    ? Object.values(value)
        .filter((each) => each !== value)
        .flatMap(statementsIn)
    : []
}

/** All statements on records and links that modules of the engine export. */
async function exported(): Promise<Map<string, Statement>> {
  const found = new Map<string, Statement>()
  for (const file of globSync('src/engine/{data,records,configuration/cascade}/**/*.ts')) {
    const module: Record<string, unknown> = await import(resolve(file))
    for (const each of Object.values(module).flatMap(statementsIn)) if (each.name) found.set(each.name, each)
  }
  return found
}

const parametersOf = ({ text }: Statement) =>
  Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))

test('PostgreSQL takes every statement on records and links in a change-set', { tags: 'full' }, async () => {
  const database = await cloneDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const statements = await exported()
  const translated: string[] = []
  for (const [name, statement] of statements) {
    const { statement: own, needsLock, takesId } = overlaid(statement, parametersOf(statement))
    if (!needsLock && !takesId) continue
    translated.push(name)
    expect(own.text, name).not.toMatch(
      /plinth\.(record|relationship|record_index|record_text|record_word)\b|INTO plinth\.change/,
    )
    await client.query(`PREPARE "${name}" AS ${own.text}`).catch((thrown: Error) => {
      throw new Error(`${name}: ${thrown.message}\n${own.text}`)
    })
  }
  expect(translated.length).toBeGreaterThan(40)
  await client.end()
  await database.drop()
})

test('a statement that writes anything else is refused', () => {
  for (const table of ['record_type', 'claim', 'trigger_delivery', 'attachment', 'base'])
    expect(() => overlaid({ name: 'x', text: `DELETE FROM plinth.${table} WHERE base_id = $1` }, 1)).toThrow(
      table,
    )
})

test('what a change-set asks again has a name, so that a connection plans it once', () => {
  const ask = () =>
    overlaid(shaped('SELECT id FROM plinth.record WHERE base_id = $1 LIMIT 7'), 1).statement.name
  expect([ask(), ask()]).toEqual(['', expect.stringMatching(/^shape_\d+~$/)])
})

test('of texts that requests make, a bounded part is kept', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  const used = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  for (let n = 0; n < 2000; n++)
    overlaid(
      { name: '', text: `SELECT '${String(n).padEnd(15_000, 'x')}' FROM plinth.record WHERE base_id = $1` },
      1,
    )
  expect(used() - before).toBeLessThan(20_000_000)
})
