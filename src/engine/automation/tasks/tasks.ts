/**
 * Tasks: tool calls that go on after their answer. Any server finds the task of a call, the one that runs the call says
 * each second that it does, and an ended task is kept for an hour.
 */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { batchDeletion, inBatches } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

export type Task = {
  readonly id: string
  readonly status: TaskStatus
  readonly message: string | null
  /** How often the status has changed. A change names the number that it saw. */
  readonly step: number
  /** What the task answers or asks, sealed for its token; null while it works. */
  readonly sealed: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What a change of the status sets. */
export type TaskChange = Pick<Task, 'status'> & Partial<Pick<Task, 'message' | 'sealed'>>

const COLUMNS = 'id, status, message, step, sealed, created_at AS "createdAt", updated_at AS "updatedAt"'
const KEPT = `updated_at > now() - make_interval(secs => ${LIMITS.taskKeptMs / 1000})`

const OPEN = statement(
  'open_task',
  `INSERT INTO plinth.mcp_task (token_id)
   SELECT $1 WHERE (SELECT count(*) FROM plinth.mcp_task WHERE token_id = $1) < ${LIMITS.tasksOfToken}
   RETURNING ${COLUMNS}`,
)
const FIND = statement(
  'find_task',
  `SELECT ${COLUMNS}, status = 'working' AND updated_at < now() - make_interval(secs => ${LIMITS.taskLostMs / 1000}) AS "isLost"
   FROM plinth.mcp_task WHERE id = $1::uuid AND token_id = $2 AND ${KEPT}`,
)
// A task that was cancelled asks nobody: it ends.
const ASKS_IN_VAIN = "is_withdrawn AND $4 = 'input_required'"
const CHANGE = statement(
  'change_task',
  `UPDATE plinth.mcp_task
   SET status = CASE WHEN ${ASKS_IN_VAIN} THEN 'cancelled' ELSE $4 END,
     message = CASE WHEN NOT (${ASKS_IN_VAIN}) THEN $5 END, sealed = CASE WHEN NOT (${ASKS_IN_VAIN}) THEN $6 END,
     step = step + 1, updated_at = clock_timestamp()
   WHERE id = $1::uuid AND token_id = $2 AND step = $3 RETURNING ${COLUMNS}`,
)
const BEAT = statement(
  'beat_task',
  `UPDATE plinth.mcp_task SET message = coalesce($3, message), updated_at = clock_timestamp()
   WHERE id = $1::uuid AND step = $2 RETURNING is_withdrawn AS "isWithdrawn"`,
)
const WITHDRAW = statement(
  'withdraw_task',
  `UPDATE plinth.mcp_task SET is_withdrawn = true,
     status = CASE status WHEN 'input_required' THEN 'cancelled' ELSE status END,
     step = CASE status WHEN 'input_required' THEN step + 1 ELSE step END
   WHERE id = $1::uuid AND token_id = $2 AND ${KEPT} RETURNING id`,
)
const OLD = batchDeletion('sweep_tasks', 'mcp_task', `NOT (${KEPT})`)

const LOST: TaskChange = { status: 'failed', message: 'The server that ran the call has ended.' }

const owner = ({ actor }: Scope): string => actor.tokenId ?? ''

/** Opens a task of the caller. Undefined if the caller has too many. */
export const openTask = async (scope: Scope): Promise<Task | undefined> =>
  (await scope.db.query<Task>(OPEN, [owner(scope)]))[0]

/** A task of the caller. One that nobody runs any longer has failed. */
export async function findTask(scope: Scope, id: string): Promise<Task | undefined> {
  const [found] = await scope.db.query<Task & { isLost: boolean }>(FIND, [id, owner(scope)])
  if (!found) return undefined
  const { isLost, ...task } = found
  if (!isLost) return task
  return (await changeTask(scope, task, LOST)) ?? findTask(scope, id)
}

/** Changes the status, unless it has changed since: undefined. */
export async function changeTask(
  scope: Scope,
  { id, step }: Pick<Task, 'id' | 'step'>,
  { status, message = null, sealed = null }: TaskChange,
): Promise<Task | undefined> {
  const [changed] = await scope.db.query<Task>(CHANGE, [id, owner(scope), step, status, message, sealed])
  return changed
}

/** Says that the call still runs. Returns whether its caller wants it to end, or it counts as ended. */
export async function beatTask(
  scope: Scope,
  { id, step }: Pick<Task, 'id' | 'step'>,
  message: string | null,
): Promise<boolean> {
  const [row] = await scope.db.query<{ isWithdrawn: boolean }>(BEAT, [id, step, message])
  return row?.isWithdrawn ?? true
}

/** Asks for the end of a task of the caller. Returns whether there is such a task. */
export const withdrawTask = async (scope: Scope, id: string): Promise<boolean> =>
  (await scope.db.query(WITHDRAW, [id, owner(scope)])).length > 0

/**
 * Job: deletes tasks that ended an hour ago.
 * @throws when the job is stopped
 */
export const sweepTasks = (db: Db, _: object, signal: AbortSignal): Promise<void> =>
  inBatches(db, OLD, signal)
