/** What reviewers say about a change-set: on the whole, on records, or on fields, each about the revision that they saw. */
import type { z } from 'zod'
import { type ChangeSetStatus, type ChangeSetStep, VerdictBody } from '../../../contract/change-set-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import type { ActorKind } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { accessInChangeSet, requireChangeSet } from '../../core/change-set/change-set-scope.ts'
import {
  type Held,
  holdChangeSet,
  requireOpen,
  requireRevision,
  takeStep,
} from '../../core/change-set/lifecycle.ts'
import { readNewest } from '../../core/created-at-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Author } from '../../log/entry.ts'
import type { ChangeSetReview as Row } from '../../prisma/client.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { storeDecision } from '../review-request-row.ts'
import { readDrafts, typesOf } from './drafts.ts'
import { pacedStep } from './pace.ts'
import { type Named, selectSeen } from './selection.ts'

type Body = z.output<typeof VerdictBody>
type Verdict = Omit<Body, 'dry_run'>

export type Review = {
  id: string
  verdict: Verdict['verdict']
  revision: number
  /** Whether the change-set was written since. */
  isStale: boolean
  /** Null for the whole. */
  resources: readonly Named[] | null
  text: string | null
  by: Author
  createdAt: string
}

/**
 * Stores what the caller says about a change-set.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT for one that is closed, or was written since
 */
export async function reviewChangeSet(scope: WriteScope, id: string, input: object): Promise<Review> {
  await requireChangeSet(scope, id)
  const { dry_run: _, ...verdict } = check(VerdictBody, input, inBody())
  return pacedStep(scope, id, async (within) => {
    const held = await holdChangeSet(within.db, id)
    const review = await storeVerdict(within, id, held, verdict)
    await settleRequests(within, id, verdict)
    return review
  })
}

/** Stores a verdict in the transaction that holds the change-set, and takes the step that follows from it. */
export async function storeVerdict(
  within: WriteScope,
  id: string,
  held: Held,
  { verdict, revision, resources, text }: Verdict,
): Promise<Review> {
  requireOpen(id, held.status)
  if (verdict === 'approve' && revision === undefined) throw unseen(held.revision)
  if (verdict !== 'comment') requireRevision(id, held, revision)
  const base = productionOf(id)
  const types = await typesUnder(within, id, resources)
  // Who may only read leaves no word.
  const writable = [id, base].map((each) => within.access.types('write', each))
  if (writable.every((each) => each !== '*' && each.size === 0))
    requirePermission(within.access, 'write', id, '*')
  if (verdict === 'comment' && !resources) accessInChangeSet(within.access, id)
  else
    for (const type of types.length > 0 ? types : ['*']) {
      requirePermission(within.access, 'read', id, type)
      requirePermission(within.access, verdict === 'comment' ? 'read' : 'write', base, type)
    }
  const count = await within.db.orm.changeSetReview.count({ where: { branch: id } })
  if (count >= LIMITS.changeSetReviews) throw tooMany(id)
  const { actor, via } = within
  const row = await within.db.orm.changeSetReview.create({
    data: {
      ...{ branch: id, id: uuidv7(), verdict, revision: revision ?? held.revision },
      ...(resources && { resources, types }),
      ...{ text: text ?? null, tokenId: actor.tokenId, actorName: actor.name, via },
      actorKind: actor.kind ?? 'program',
    },
  })
  const about = { verdict, ...(text !== undefined && { text }), ...(resources && { resources }) }
  const [approved] = await within.db.query<{ is_approved: boolean }>(IS_APPROVED, [id])
  await takeStep(within, id, { ...stepOf(verdict, approved?.is_approved ?? false), about })
  return toReview(row, held.revision)
}

/** The record types of what a verdict is about. */
async function typesUnder(scope: Scope, id: string, resources: Verdict['resources']): Promise<string[]> {
  const drafts = resources ? await selectSeen(scope, id, resources) : await readDrafts(scope.db, id)
  return [...new Set(drafts.flatMap(typesOf))]
}

const IS_APPROVED = statement(
  'is_change_set_approved',
  `SELECT count(DISTINCT a.who) >= greatest(1, plinth_draft.approvals_needed($1)) AS is_approved
   FROM plinth_draft.approvals($1) a WHERE a.resources IS NULL`,
)

function stepOf(
  verdict: Verdict['verdict'],
  isApproved: boolean,
): { event: ChangeSetStep; status?: ChangeSetStatus | undefined } {
  if (verdict === 'comment') return { event: 'commented' }
  if (verdict === 'approve') return { event: 'approved', ...(isApproved && { status: 'approved' }) }
  return verdict === 'reject'
    ? { event: 'rejected', status: 'rejected' }
    : { event: 'changes_requested', status: 'changes_requested' }
}

const SHOWN = statement(
  'shown_reviews_of_change_set',
  'SELECT id FROM plinth.change_set_review WHERE branch = $1 AND types <@ $2::text[]',
)

/**
 * Lists what was said, newest first, as far as the caller may read what it is about.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function listReviews(scope: Scope, id: string, args: PageArgs): Promise<Page<Review>> {
  await requireChangeSet(scope, id)
  const types = accessInChangeSet(scope.access, id).types('read', productionOf(id))
  const shown = types === '*' ? undefined : await scope.db.query<{ id: string }>(SHOWN, [id, [...types]])
  const where = { branch: id, ...(shown && { id: { in: shown.map((row) => row.id) } }) }
  const page = readNewest(scope, `reviews of ${id}`, args)
  const state = await scope.db.orm.changeSet.findUnique({ where: { baseId: id }, select: { revision: true } })
  const [rows, total] = await page.find<Row>(scope.db.orm.changeSetReview, where)
  return page.of(
    rows.map((row) => toReview(row, state?.revision ?? 0)),
    total,
  )
}

const toReview = (row: Row, revision: number): Review => ({
  ...{ id: row.id, verdict: row.verdict as Review['verdict'], revision: row.revision },
  ...{ isStale: row.revision !== revision, resources: row.resources as Named[] | null, text: row.text },
  by: { tokenId: row.tokenId, name: row.actorName, via: row.via, kind: row.actorKind as ActorKind },
  createdAt: row.createdAt.toISOString(),
})

/** What is sent back or rejected waits for nobody: the requests for it are decided too. */
export async function settleRequests(
  within: WriteScope,
  id: string,
  { verdict, text }: Verdict,
): Promise<void> {
  if (verdict !== 'request_changes' && verdict !== 'reject') return
  const decision = verdict === 'reject' ? 'decline' : 'send_back'
  const where = { baseId: productionOf(id), fromBase: id, state: 'open' }
  for (const row of await within.db.orm.reviewRequest.findMany({ where }))
    await storeDecision(within, row, { decision, note: text ?? null, promotionId: null })
}

const unseen = (expected: number) =>
  invalid({
    path: '/revision',
    code: 'required',
    message: `An approval is of what was seen. Send the revision of the proposal, such as ${expected}.`,
    expected,
  })

function tooMany(id: string): DomainError {
  const message = `"${id}" has ${LIMITS.changeSetReviews} reviews, which is the limit. Decide on it.`
  return oneFault('CONFLICT', message, {
    path: '/base_id',
    code: 'too_many_reviews',
    expected: LIMITS.changeSetReviews,
  })
}
