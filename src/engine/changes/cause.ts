import { type Db, statement } from '../db.ts'

const SET_CAUSE = statement('set_cause', `SELECT set_config('plinth.cause', $1, true)`)

/** Says what the writes of this transaction follow from: the id of a change, delivery or run. Each entry they make has it. */
export async function setCause(tx: Db, cause: string): Promise<void> {
  await tx.query(SET_CAUSE, [cause])
}

/** The cause of the transaction, as SQL: the column's own default, for a statement that names the column. */
export const CAUSE = "nullif(current_setting('plinth.cause', true), '')"
