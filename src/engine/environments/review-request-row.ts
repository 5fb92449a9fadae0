/** Review requests as they are stored, shown and logged. */
import type { z } from 'zod'
import type { DecisionBody, ReviewBody } from '../../contract/config-shapes.ts'
import type { ActorKind } from '../../contract/shapes.ts'
import { oneFault } from '../../foundation/errors.ts'
import { appendChange } from '../core/append-change.ts'
import { requestEntry } from '../core/review-request-log.ts'
import type { Scope } from '../core/scope.ts'
import type { Author } from '../log/entry.ts'
import type { ReviewRequest as Row } from '../prisma/client.ts'
import type { Promotion } from './promotion.ts'

export type Decision = z.output<typeof DecisionBody>['decision']
/** What the changes do not fit, when they were asked for. */
export type Break = { kind: string | null; id: string | null; code: string; message: string; count?: number }
type ReviewState = 'open' | 'accepted' | 'declined' | 'sent_back'

export type ReviewRequest = {
  id: string
  kind: 'promotion' | 'pause'
  baseId: string
  /** Of a pause, the base itself. */
  from: string
  by: Author
  at: string
  title: string
  note: string | null
  summary: string
  breaks: readonly Break[]
  state: ReviewState
  /** Whether the caller may decide it. */
  mayDecide: boolean
  decision: {
    decision: Decision
    note: string | null
    by: Author
    at: string
    promotionId: string | null
  } | null
  /** Of a change-set: what was asked for. */
  revision: number | null
  /** What was asked for besides the preview. */
  asked: Asked
  /** Why the token that it is by was paused. */
  pause: Pause | null
  /** Only in the answer to an acceptance. */
  promotion?: Promotion
}
/** What a token did when it was paused, as it is stored, shown and sent. */
export type Pause = {
  token_id: string
  /** The begin of the hour. */
  since: string
  /** What it has changed since, and what was refused. */
  writes: number
  refused: number
  /** What it usually changes in an hour, and what it may. */
  usual: number
  allowed: number
  /** Directly, where no change-set is named. */
  wrote: readonly {
    change_set: string | null
    kind: 'record' | 'relationship'
    record_type: string | null
    count: number
  }[]
  /** The person who did it; absent where its pace did. */
  paused_by?: StoredAuthor
}
export type Asked = Omit<z.output<typeof ReviewBody>, 'kind' | 'from' | 'title' | 'note' | 'dry_run'>
/** As it is stored: with a digest of what the preview had, but of a change-set. */
export type StoredAsked = Asked & { readonly state?: string }

const askedOf = ({ asked }: Row): Asked => {
  const { state: _, ...shown } = asked as StoredAsked
  return shown
}

const STATE_OF = { accept: 'accepted', decline: 'declined', send_back: 'sent_back' } as const

export const authorOf = ({ actor, via }: Scope): Author => ({
  ...{ tokenId: actor.tokenId, name: actor.name, via, kind: actor.kind ?? 'program' },
})

export const storedAuthor = ({ tokenId: token_id, name, via, kind }: Author): StoredAuthor => ({
  token_id,
  name,
  via,
  kind,
})

/**
 * Stores the decision on a request that is open, and logs it.
 * @throws CONFLICT where it is decided, or was asked anew
 */
export async function storeDecision(
  within: Scope,
  row: Row,
  { decision, note, promotionId }: { decision: Decision; note: string | null; promotionId: string | null },
): Promise<ReviewRequest> {
  const by = storedAuthor(authorOf(within))
  const stored = { decision, note, by, at: new Date().toISOString(), promotion_id: promotionId }
  const { baseId, id, createdAt } = row
  const { count } = await within.db.orm.reviewRequest.updateMany({
    where: { baseId, id, state: 'open', createdAt },
    data: { state: STATE_OF[decision], decision: stored },
  })
  if (count === 0) throw isDecided()
  const decided = { ...row, state: STATE_OF[decision], decision: stored }
  await logRequest(within, decided, 'update')
  return toRequest(decided, () => false)
}

type StoredDecision = {
  decision: Decision
  note: string | null
  by: StoredAuthor
  at: string
  promotion_id: string | null
}
type StoredAuthor = { token_id: string | null; name: string; via: string; kind: ActorKind }

/** Of a request of that kind. */
export const pauseOf = ({ asked }: Row): Pause => asked as object as Pause

export function toRequest(row: Row, mayDecide: (row: Row) => boolean): ReviewRequest {
  const stored = row.decision as StoredDecision | null
  return {
    id: row.id,
    kind: row.kind as ReviewRequest['kind'],
    baseId: row.baseId,
    from: row.fromBase,
    by: { tokenId: row.tokenId, name: row.actorName, via: row.via, kind: row.actorKind as ActorKind },
    at: row.createdAt.toISOString(),
    title: row.title,
    note: row.note,
    summary: row.summary,
    breaks: row.breaks as Break[],
    state: row.state as ReviewState,
    mayDecide: mayDecide(row),
    revision: row.revision,
    ...(row.kind === 'pause' ? { asked: {}, pause: pauseOf(row) } : { asked: askedOf(row), pause: null }),
    decision: stored && {
      ...{ decision: stored.decision, note: stored.note, at: stored.at, promotionId: stored.promotion_id },
      by: { tokenId: stored.by.token_id, name: stored.by.name, via: stored.by.via, kind: stored.by.kind },
    },
  }
}

/** Logs what was asked and decided. */
export const logRequest = (
  scope: Scope,
  row: Row,
  operation: 'create' | 'update' | 'delete',
): Promise<void> => appendChange(scope, requestEntry(row, operation))

export const isDecided = () =>
  oneFault('CONFLICT', 'This request is decided, or was asked anew meanwhile.', {
    path: '/id',
    code: 'decided',
    message: 'Read it again to see its state.',
  })
