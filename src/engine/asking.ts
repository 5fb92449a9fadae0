import type pg from 'pg'
import { askedTooMuch } from './sql-errors.ts'
import type { Statement } from './statement.ts'
import { TIMES_AND_JSON_AS_TEXT, TIMES_AS_TEXT } from './times-as-text.ts'

/** Past the ORM, on the same connections: a third of its cost for a statement. */
export async function ask<Row>(
  connection: pg.Pool | pg.PoolClient,
  { name, text, timesAsText, jsonAsText, asked: isAsked }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const asked = {
    ...(name && { name }),
    text,
    values: [...values],
    ...(timesAsText && { types: jsonAsText ? TIMES_AND_JSON_AS_TEXT : TIMES_AS_TEXT }),
  }
  try {
    return (await connection.query(asked)).rows as Row[]
  } catch (thrown) {
    throw isAsked ? askedTooMuch(thrown) : thrown
  }
}
