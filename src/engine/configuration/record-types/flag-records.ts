import { FLAG } from '../../data/ledger/set-state.ts'
import type { Db } from '../../storage/database/client.ts'

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
