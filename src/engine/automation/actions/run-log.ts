/** The log of runs: what each run of an action was given, did and answered. */
import { RUN_STATUSES } from '../../../contract/action-shapes.ts'
import { type DomainError, errorBody, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { ACTION } from '../../configuration/actions/index.ts'
import { type LogArgs, listLog } from '../../configuration/lifecycle/list-log.ts'
import { get } from '../../configuration/lifecycle/read.ts'
import type { Page } from '../../core/page.ts'
import type { RunState } from '../../core/run-state.ts'
import type { Scope } from '../../core/scope.ts'
import type { ActionRun as Row } from '../../prisma/client.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { batchDeletion, inBatches } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { ActionAddress } from './run-context.ts'

/** A run as it is shown. */
export type ActionRun = {
  id: string
  status: string
  actionVersion: number
  /** Null if it is too long to keep. */
  input: unknown
  output: unknown
  steps: unknown
  /** Why it failed. */
  error: unknown
  durationMs: number
  actor: { tokenId: string | null; name: string; via: string }
  requestId: string
  cause: string | null
  createdAt: string
}

/** What the log keeps of a run. */
type Ended = Pick<RunState, 'id' | 'startedAt' | 'cause'> & NonNullable<RunState['begun']>

// A deletion of the action that has not ended yet is waited for: the log goes with the action.
const KEEP = statement(
  'keep_action_run',
  `INSERT INTO plinth.action_run
     (base_id, action_id, id, status, action_version, input, output, steps, error, duration_ms,
      token_id, actor_name, via, request_id, created_at, cause)
   SELECT $1, $2, $3, $4, $5, $6::json, $7::json, $8::json, $9::json, $10, $11, $12, $13, $14, $15::timestamptz, $16
   WHERE EXISTS (SELECT FROM plinth.action WHERE base_id = $1 AND id = $2 FOR KEY SHARE)`,
)

/** Keeps a run in the transaction of what it wrote. */
export const keepSuccess = (
  scope: Scope,
  target: ActionAddress,
  run: Ended,
  output: unknown,
): Promise<void> => keep(scope, target, run, { status: 'succeeded', output, error: null })

/** Keeps a run whose transaction was undone. If that fails, the caller still gets the failure of the run. */
export async function keepFailure(
  scope: Scope,
  target: ActionAddress,
  run: Ended,
  failure: DomainError,
): Promise<void> {
  const { request_id: _, ...error } = errorBody(failure, scope.requestId).error
  await keep(scope, target, run, { status: 'failed', output: null, error }).catch((err) =>
    scope.log.warn({ err, base: target.baseId, action: target.id, run: run.id }, 'a failed run was not kept'),
  )
}

async function keep(
  { db, actor, via, requestId, changeSet }: Scope,
  { baseId, id }: ActionAddress,
  run: Ended,
  { status, output, error }: { status: string; output: unknown; error: object | null },
): Promise<void> {
  // The log is production's, which shows nothing of a change-set.
  if (changeSet !== undefined) return
  await db.query(KEEP, [
    ...[baseId, id, run.id, status, run.version, kept(run.input), kept(output), JSON.stringify(run.steps)],
    error && JSON.stringify(error),
    Math.max(0, Date.now() - run.startedAt.getTime()),
    ...[actor.tokenId, actor.name, via, requestId, run.startedAt.toISOString(), run.cause ?? null],
  ])
}

/** A value as text; null if it is too long to keep. */
function kept(value: unknown): string | null {
  const text = JSON.stringify(value ?? null)
  return text.length <= LIMITS.runKeptChars ? text : null
}

const toRun = (row: Row): ActionRun => ({
  id: row.id,
  status: row.status,
  actionVersion: row.actionVersion,
  input: row.input,
  output: row.output,
  steps: row.steps,
  error: row.error,
  durationMs: row.durationMs,
  actor: { tokenId: row.tokenId, name: row.actorName, via: row.via },
  requestId: row.requestId,
  cause: row.cause,
  createdAt: row.createdAt.toISOString(),
})

/**
 * Lists the runs of an action, newest first.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export function listRuns(scope: Scope, target: ActionAddress, args: LogArgs): Promise<Page<ActionRun>> {
  const { actionRun } = scope.db.orm
  return listLog({ kind: ACTION, scope, ...target }, args, {
    name: 'runs',
    statuses: RUN_STATUSES,
    table: {
      findMany: (query) => actionRun.findMany(query),
      count: (query) => actionRun.count(query),
    },
    where: { baseId: target.baseId, actionId: target.id },
    show: toRun,
  })
}

/** @throws FORBIDDEN; NOT_FOUND */
export async function getRun(scope: Scope, target: ActionAddress, runId: string): Promise<ActionRun> {
  const { baseId, id } = target
  requirePermission(scope.access, 'read', baseId, '*')
  const key = { baseId_actionId_id: { baseId, actionId: id, id: runId } }
  const row = await scope.db.orm.actionRun.findUnique({ where: key })
  if (row) return toRun(row)
  await get({ kind: ACTION, scope, ...target })
  throw oneFault('NOT_FOUND', `There is no run "${runId.slice(0, 64)}" of this action.`, {
    path: '/run_id',
    code: 'run_not_found',
    message: `List the runs of the action. The log keeps a run for ${LIMITS.runDays} days.`,
  })
}

const OLD = batchDeletion(
  'sweep_action_runs',
  'action_run',
  `created_at < now() - make_interval(days => ${LIMITS.runDays})`,
)

/**
 * Job: deletes old runs of actions, in batches.
 * @throws when the job is stopped
 */
export const sweepRuns = (db: Db, _: object, signal: AbortSignal): Promise<void> => inBatches(db, OLD, signal)
