/** Migrations that a preview ran on its records. A promotion does not run them on those of production unless it is asked to. */

import { type Detail, DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { Edit } from './edits.ts'

const MIGRATIONS = statement(
  'migrations_of_preview',
  `SELECT id, data -> 'migration' AS migration FROM plinth.change c
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = 'record_type' AND id = ANY ($3::text[])
     AND data ? 'migration' AND at > coalesce((
       SELECT max(p.created_at) FROM plinth.promotion p
       JOIN plinth.promotion_edit e ON e.base_id = p.base_id AND e.promotion_id = p.id
       WHERE p.base_id = $2 AND p.from_base = $1 AND p.kind = 'promotion' AND e.kind = 'record_type' AND e.id = c.id
         AND NOT e.rolled_back), '-infinity')
   ORDER BY c.seq`,
)

/** Those since the last promotion of each record type that the edits change, by its id: what `migration` would repeat. */
export async function previewMigrations(
  db: Db,
  baseId: string,
  from: string,
  edits: readonly Edit[],
  given: object = {},
): Promise<ReadonlyMap<string, string>> {
  const ids = edits.flatMap(({ kind, id, before, after }) =>
    kind.name === 'record_type' && before && after && !Object.hasOwn(given, id) ? [id] : [],
  )
  if (ids.length === 0) return new Map()
  const rows = await db.query<{ id: string; migration: unknown[] }>(MIGRATIONS, [from, baseId, ids])
  const steps = Map.groupBy(rows, ({ id }) => id)
  return new Map(
    [...steps].map(([id, all]) => {
      const text = JSON.stringify({ [id]: all.flatMap(({ migration }) => migration) })
      return [
        id,
        text.length > LIMITS.migrationShownChars
          ? `{"${id}":[ … ]}, from the history of the type in ${from}`
          : text,
      ]
    }),
  )
}

/** Says of each that the promotion does not repeat it. */
export const migrationWarnings = (migrations: ReadonlyMap<string, string>): string[] =>
  [...migrations].map(
    ([id, steps]) =>
      `record_type ${id}: The preview migrated its records, and this does not migrate those of production. Repeat it with "migration": ${steps}`,
  )

/** Adds the migration of the preview to a fault of records that it may repair. */
export const offering =
  <E extends Edit>(located: (thrown: unknown, edit: E) => unknown, migrations: ReadonlyMap<string, string>) =>
  (thrown: unknown, edit: E): unknown => {
    const fault = located(thrown, edit)
    const steps = migrations.get(edit.id)
    if (steps === undefined || !(fault instanceof DomainError)) return fault
    const offered = (detail: Detail): Detail =>
      detail.code === 'records_invalid'
        ? { ...detail, hint: `Repeat the migration of the preview: "migration": ${steps}` }
        : detail
    return new DomainError(fault.code, fault.message, { details: fault.details.map(offered), cause: fault })
  }
