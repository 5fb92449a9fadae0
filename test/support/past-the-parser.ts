/** Switches off one of the two walls of SQL: the parser, or the rights of the database roles. */
import pino from 'pino'
import { openSqlRunner } from '../../src/engine/sql/execution/runner.ts'
import { openDatabase } from '../../src/engine/storage/database/pool.ts'
import { Freshness } from '../../src/engine/storage/database/standby.ts'
import { TYPES } from './sql-corpus/data.ts'
import type { World } from './world.ts'

/** The record types of `shop` that the tests grant. */
export const GRANTED: readonly string[] = TYPES.map(({ id }) => id)

/**
 * Runs statements under the role of the token's grants without the parser: as a query does, or as the reader of
 * SQL that writes does.
 */
export async function pastTheParser(
  world: World,
  reader: 'query' | 'write',
  { baseId = 'shop', recordTypes = [...GRANTED].sort(), changeSet = null as string | null } = {},
) {
  const lines: string[] = []
  const log = pino({ level: 'trace', base: null }, { write: (line: string) => void lines.push(line) })
  const db = openDatabase(world.database.url, () => {})
  const limits = { rows: 1000, timeoutMs: 1000, bytes: 1024 * 1024, writeRows: 1000 }
  const runner = await openSqlRunner({
    connectionString: world.database.url,
    db,
    standby: undefined,
    isEnabled: true,
    limits,
    log,
  })
  const principal = { baseId, recordTypes, tokenId: 'none', changeSet }
  const freshness = new Freshness()
  const asked = { principal, freshness, tokenId: 'none', requestId: 'none', limit: 1000, signal: undefined }
  const query = (text: string, values: readonly unknown[]) =>
    runner.run(
      async () => ({
        text,
        values: values as string[],
        relations: [],
        slots: [],
        advice: [],
        conversions: () => [],
        fingerprint: '',
      }),
      asked,
    )
  const write = (text: string, values: readonly unknown[]) =>
    runner.reserve(asked, (place) =>
      place.reader.read({ text, values: values as string[], slots: [] }, asked.limit),
    )
  return {
    lines,
    run: (text: string, values: readonly unknown[] = []) =>
      (reader === 'query' ? query : write)(text, values).catch(
        ({ message, details }: Error & { details?: unknown }) => ({ message, details }),
      ),
    close: async () => {
      await runner.close()
      await db.close()
    },
  }
}

/** Removes the conditions of the views of records, types and changes, and makes the role of the grants a superuser. */
export async function withoutDatabaseRoles({ database: { query } }: World, granted = GRANTED): Promise<void> {
  const views = await query<{ name: string; text: string }>(
    `SELECT c.oid::regclass::text AS name, pg_get_viewdef(c.oid) AS text FROM pg_class c
     WHERE c.oid IN ('plinth_sql.record'::regclass, 'plinth_sql.record_type'::regclass, 'plinth_sql.change'::regclass)`,
  )
  for (const { name, text } of views)
    await query(
      `CREATE OR REPLACE VIEW ${name} WITH (security_barrier = false) AS ${text.split(/\n {2}WHERE/)[0]}`,
    )
  const roles = await query<{ role: string }>(
    'SELECT role FROM plinth.sql_grant WHERE base_id = $1 AND record_types @> $2::jsonb',
    ['shop', JSON.stringify(granted)],
  )
  if (roles.length === 0) throw new Error('No role has these grants')
  for (const { role } of roles) await query(`ALTER ROLE ${role} SUPERUSER`)
}
