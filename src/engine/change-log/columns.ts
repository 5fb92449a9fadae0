import { type Db, statement } from '../database/client.ts'

const SET_CAUSE = statement('set_cause', `SELECT set_config('plinth.cause', $1, true)`)

/** Sets the cause of the transaction's log entries: the id of a change, delivery or run. */
export async function setCause(tx: Db, cause: string): Promise<void> {
  await tx.query(SET_CAUSE, [cause])
}

/** The cause of the transaction as SQL. It is also the default of the column. */
export const CAUSE = "nullif(current_setting('plinth.cause', true), '')"

/** Author columns of the change log. Writing statements bind `authorship(scope)` to them. */
export const AUTHOR_COLUMNS = 'token_id, actor_name, via, request_id'

/** Columns of a record's log entry, in the order of all writing statements. */
export const RECORD_LOG_COLUMNS = `base_id, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, created_at, ${AUTHOR_COLUMNS}`
