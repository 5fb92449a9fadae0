import { type Db, statement } from '../../database/client.ts'

const FLAG = statement(
  'flag_records',
  `UPDATE plinth.record r SET valid = f.valid
   FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::boolean[])) AS f (record_type, id, valid)
   WHERE r.base_id = $1 AND r.record_type = f.record_type COLLATE "C" AND r.id = f.id COLLATE "C"`,
)

/** Whether the schema of its type accepts a record. */
export type Flag = { readonly recordType: string; readonly id: string; readonly isValid: boolean }

/** Stores which records their schemas accept. */
export async function flagRecords(db: Db, baseId: string, flags: readonly Flag[]): Promise<void> {
  if (flags.length === 0) return
  await db.query(FLAG, [
    baseId,
    flags.map(({ recordType }) => recordType),
    flags.map(({ id }) => id),
    flags.map(({ isValid }) => isValid),
  ])
}
