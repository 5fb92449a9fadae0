/** The steps of a change-set from its opening to its end. Each is an entry in the log of production. */
import { type ChangeSetStatus, type ChangeSetStep, isOpen } from '../../../contract/change-set-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import { DomainError, oneFault } from '../../../foundation/errors.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { appendChange, type LogEntry } from '../append-change.ts'
import type { Scope } from '../scope.ts'

const HOLD = statement(
  'hold_change_set_for_step',
  'SELECT status, revision FROM plinth.change_set WHERE base_id = $1 FOR UPDATE',
)
// What is opened again is not over at once, and is a revision of its own: who approved it before it was rejected looks again.
const STEP = statement(
  'step_of_change_set',
  `UPDATE plinth.change_set SET steps = steps + 1, status = coalesce($2, status), title = coalesce($3, title),
     closed_at = CASE WHEN $2 IN ('merged', 'rejected', 'expired') THEN now() WHEN $2 IS NULL THEN closed_at END,
     written_at = CASE WHEN $4 = 'reopened' THEN now() ELSE written_at END,
     revision = revision + ($4 = 'reopened')::int
   WHERE base_id = $1 RETURNING steps, status, title, revision`,
)

export type Held = { readonly status: ChangeSetStatus; readonly revision: number }
type State = Held & { readonly title: string | null }

/** Holds a change-set until the end of the transaction, against writers and other steps. */
export async function holdChangeSet(tx: Db, id: string): Promise<Held> {
  const [row] = await tx.query<Held>(HOLD, [id])
  if (!row) throw changeSetGone(id)
  return row
}

export const changeSetGone = (id: string): DomainError =>
  new DomainError('NOT_FOUND', `There is no change-set "${id}" any more.`)

/** @throws CONFLICT for one that is closed */
export function requireOpen(id: string, status: ChangeSetStatus, path = '/base_id'): void {
  if (isOpen(status)) return
  const message = `The change-set "${id}" is ${status}. Open another one${status === 'merged' ? '' : ', or reopen it'}.`
  throw oneFault('CONFLICT', message, { path, code: 'change_set_closed' })
}

/** @throws CONFLICT where it was changed since it was looked at */
export function requireRevision(id: string, { revision }: Held, seen: number | undefined): void {
  if (seen === undefined || seen === revision) return
  const message = `"${id}" was changed since revision ${seen}. Look at revision ${revision} first.`
  throw oneFault('CONFLICT', message, {
    path: '/revision',
    code: 'changed_since',
    received: seen,
    expected: revision,
  })
}

type Step = {
  readonly event: ChangeSetStep
  readonly status?: ChangeSetStatus | undefined
  readonly title?: string | undefined
  /** What the log says besides. */
  readonly about?: object
}

/** Takes a step, in the transaction of what makes it. */
export async function takeStep(within: Scope, id: string, step: Step): Promise<void> {
  const { event, status, title } = step
  const [row] = await within.db.query<State & { steps: number }>(STEP, [
    id,
    status ?? null,
    title ?? null,
    event,
  ])
  if (!row) throw new Error(`Invariant violated: the change-set "${id}" is gone while it is held`)
  const { steps, ...state } = row
  await appendChange(within, stepEntry(id, steps, state, step))
}

/** The entry of a step, in the log of production. The first step is the opening. */
export const stepEntry = (
  id: string,
  steps: number,
  state: State,
  { event, about }: Pick<Step, 'event' | 'about'>,
): LogEntry => ({
  ...{ baseId: productionOf(id), kind: 'preview', id, version: steps },
  operation: steps === 1 ? 'create' : 'update',
  state: { id, ...state, event, ...about },
})
