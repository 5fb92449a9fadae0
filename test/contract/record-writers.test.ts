/** The files whose SQL writes records and the change log. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const clauses = (pattern: RegExp): Record<string, number> =>
  Object.fromEntries(
    globSync('src/**/*.ts', { exclude: ['src/engine/prisma/**'] })
      .map((file) => [file, readFileSync(file, 'utf8').match(pattern)?.length ?? 0] as const)
      .filter(([, count]) => count > 0)
      .sort(),
  )

test('records are written by the clauses of the ledger only', () => {
  expect(clauses(/\b(INSERT INTO|UPDATE|DELETE FROM) plinth\.record\b(?!_)/g)).toEqual({
    'src/engine/data/ledger/bring-back.ts': 1,
    'src/engine/data/ledger/put.ts': 2,
    'src/engine/data/ledger/remove.ts': 1,
    'src/engine/data/ledger/set-state.ts': 3,
  })
})

test('log rows are appended by one clause for records, one for all else, and one for those of an import', () => {
  expect(clauses(/\bINSERT INTO plinth\.change\b(?!_)/g)).toEqual({ 'src/engine/log/log-rows.ts': 3 })
})
