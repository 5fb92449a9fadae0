import { type Db, statement } from '../database/client.ts'

const SET_CAUSE = statement('set_cause', `SELECT set_config('plinth.cause', $1, true)`)

/** Says what the writes of this transaction follow from: the id of a change, delivery or run. Each entry they make has it. */
export async function setCause(tx: Db, cause: string): Promise<void> {
  await tx.query(SET_CAUSE, [cause])
}

/** The cause of the transaction, as SQL: the column's own default, for a statement that names the column. */
export const CAUSE = "nullif(current_setting('plinth.cause', true), '')"

/** The change log's columns about the author; a writing statement binds `authorship(scope)` to them. */
export const AUTHOR_COLUMNS = 'token_id, actor_name, via, request_id'

/** The columns of a record's entry in the change log, in the order every writing statement fills them. */
export const RECORD_LOG_COLUMNS = `base_id, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, created_at, ${AUTHOR_COLUMNS}`
