import pg from 'pg'
import { abandoned, askedTooMuch } from './sql-errors.ts'
import type { Statement } from './statement.ts'
import { TIMES_AND_JSON_AS_TEXT, TIMES_AS_TEXT } from './times-as-text.ts'
import type { Watch } from './watch.ts'

/** Past the ORM, on the same connections: a third of its cost for a statement. */
export async function ask<Row>(
  client: pg.PoolClient,
  { name, text, timesAsText, jsonAsText, asked }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const query = {
    ...(name && { name }),
    text,
    values: [...values],
    ...(timesAsText && { types: jsonAsText ? TIMES_AND_JSON_AS_TEXT : TIMES_AS_TEXT }),
  }
  try {
    return (await run(client, query)).rows as Row[]
  } catch (thrown) {
    throw asked ? askedTooMuch(thrown) : thrown
  }
}

/**
 * By callback: what the driver keeps of a promise it makes itself holds the rows, and all that waits for them, until the
 * next collection of the old generation.
 */
export const run = (client: pg.PoolClient, query: string | pg.QueryConfig): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result))
    void client.query(query as pg.QueryConfig, done)
  })

/** The same on a connection of the pool's choice. One that `watch` watches is cancelled when its caller goes. */
export async function askAny<Row>(
  pool: pg.Pool,
  statement: Statement,
  values: readonly unknown[],
  watch?: Watch,
): Promise<Row[]> {
  let client: pg.PoolClient | undefined
  let isSound = true
  try {
    client = await pool.connect()
    watch?.runsOn(client)
    return await ask(client, statement, values)
  } catch (thrown) {
    isSound = isOfStatement(thrown)
    throw watch?.isGone ? abandoned(thrown) : thrown
  } finally {
    if (watch) await watch.end()
    client?.release(!isSound)
  }
}

/** An error of the statement alone, after which its connection is as good as before. */
function isOfStatement(thrown: unknown): boolean {
  const error = thrown instanceof pg.DatabaseError ? thrown : (thrown as { cause?: unknown } | null)?.cause
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}
