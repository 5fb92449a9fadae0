/** What waits for a person in a base: promotions that somebody asked for. */
import type { z } from 'zod'
import { DecisionBody, ReviewBody } from '../../contract/config-shapes.ts'
import { snakeFields } from '../../contract/field-names.ts'
import type { ActorKind } from '../../contract/shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { appendChange } from '../core/append-change.ts'
import { isChangeSet } from '../core/change-set/change-set-scope.ts'
import { readNewest } from '../core/created-at-page.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Page, PageArgs } from '../core/page.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { Author } from '../log/entry.ts'
import type { ReviewRequest as Row } from '../prisma/client.ts'
import { requirePermission } from '../storage/access/access.ts'
import type { Permission } from '../storage/access/grants.ts'
import { promote } from './promote.ts'
import type { Promotion } from './promotion.ts'
import type { Proposal } from './proposal.ts'
import { propose } from './propose.ts'

type Decision = z.output<typeof DecisionBody>['decision']
/** What the changes do not fit, when they were asked for. */
type Break = { kind: string | null; id: string | null; code: string; message: string; count?: number }
type ReviewState = 'open' | 'accepted' | 'declined' | 'sent_back'

export type ReviewRequest = {
  id: string
  kind: 'promotion'
  baseId: string
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
  /** What was asked for besides the preview. */
  asked: Asked
  /** Only in the answer to an acceptance. */
  promotion?: Promotion
}
type Asked = Omit<z.output<typeof ReviewBody>, 'kind' | 'from' | 'title' | 'note' | 'dry_run'>

const STATE_OF = { accept: 'accepted', decline: 'declined', send_back: 'sent_back' } as const

/**
 * Asks for a promotion. What the same token asked for this preview, and is still open, is replaced.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where there is nothing to promote
 */
export async function askForReview(scope: WriteScope, baseId: string, input: object): Promise<ReviewRequest> {
  const {
    kind = 'promotion',
    from,
    title,
    note = null,
    dry_run: _,
    ...asked
  } = check(ReviewBody, input, inBody())
  const { changes, breaks, conflicts } = await propose(scope, baseId, { from, ...asked })
  const writable = scope.access.types('write', from)
  const mayAsk = (await isChangeSet(scope, from)) && (writable === '*' || writable.size > 0)
  if (!mayAsk) requirePermission(scope.access, 'write', from, '*')
  if (changes.length === 0) throw nothingToPromote(from)
  const preview = await scope.db.orm.base.findUnique({ where: { id: from }, select: { name: true } })
  const { tokenId, name: actorName, kind: actorKind = 'program' } = scope.actor
  const data = {
    ...{ kind, fromBase: from, asked: asked as object, tokenId, actorName, actorKind, via: scope.via },
    title: title ?? `Promote ${preview?.name ?? from}`.slice(0, LIMITS.nameChars),
    note,
    summary: summaryText(changes.length, conflicts.length),
    breaks: breaks.slice(0, LIMITS.errorDetails).map(breakOf) as object[],
    createdAt: new Date(),
  }
  return scope.db.transaction(async (tx) => {
    // Requests for one preview take turns, so that the same token has one that is open.
    await tx.orm.base.update({ where: { id: from }, data: {}, select: { id: true } })
    const open = await tx.orm.reviewRequest.findFirst({
      where: { baseId, fromBase: from, tokenId, state: 'open' },
    })
    const row = open
      ? await tx.orm.reviewRequest.update({ where: { baseId_id: { baseId, id: open.id } }, data })
      : await tx.orm.reviewRequest.create({ data: { ...data, baseId, id: uuidv7() } })
    const within = { ...scope, db: tx }
    await log(within, row, open ? 'update' : 'create')
    return toRequest(row, await decider(within, [row]))
  })
}

/**
 * Lists what is open or decided, newest first. What was asked for a preview that is deleted is neither.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function listReviewRequests(
  scope: Scope,
  baseId: string,
  { state, ...args }: PageArgs & { state: 'open' | 'decided' },
): Promise<Page<ReviewRequest & { createdAt: string }>> {
  requirePermission(scope.access, 'read', baseId, '*')
  const page = readNewest(scope, `${state} review requests of ${baseId}`, args)
  const previews = await scope.db.orm.base.findMany({
    where: { productionBase: baseId },
    select: { id: true },
  })
  const where =
    state === 'open'
      ? { baseId, state, fromBase: { in: previews.map(({ id }) => id) } }
      : { baseId, state: { not: 'open' } }
  const [rows, total] = await page.find<Row>(scope.db.orm.reviewRequest, where)
  if (rows.length === 0) await requireBase(scope, baseId)
  const mayDecide = await decider(scope, rows)
  const shown = rows.map((row) => ({ ...toRequest(row, mayDecide), createdAt: row.createdAt.toISOString() }))
  return page.of(shown, total)
}

/** @throws FORBIDDEN; NOT_FOUND */
export async function getReviewRequest(scope: Scope, baseId: string, id: string): Promise<ReviewRequest> {
  requirePermission(scope.access, 'read', baseId, '*')
  const row = await find(scope, baseId, id)
  return toRequest(row, await decider(scope, [row]))
}

/** What the caller asked for a preview last, however it was decided. */
export async function newestReviewRequest(
  scope: Scope,
  baseId: string,
  from: string,
): Promise<ReviewRequest | null> {
  requirePermission(scope.access, 'read', baseId, '*')
  const where = { baseId, fromBase: from, tokenId: scope.actor.tokenId }
  const row = await scope.db.orm.reviewRequest.findFirst({ where, orderBy: { createdAt: 'desc' } })
  return row && toRequest(row, () => false)
}

/** What the request would change now; null where it is decided, or its preview is deleted. */
export async function proposalOf(scope: Scope, request: ReviewRequest): Promise<Proposal | null> {
  const { baseId, from, asked, state } = request
  if (state !== 'open') return null
  const preview = await scope.db.orm.base.findUnique({ where: { id: from }, select: { id: true } })
  return preview && propose(scope, baseId, { from, ...asked })
}

/**
 * Decides a request: once, by somebody else than who asked. An acceptance promotes in the same transaction.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where it is decided, or what `promote` throws
 */
export async function decideReviewRequest(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: object,
): Promise<ReviewRequest> {
  requirePermission(scope.access, 'write', baseId, '*')
  const { decision, note = null, resources, migration, resolve } = check(DecisionBody, input, inBody())
  const row = await find(scope, baseId, id)
  requirePermission(scope.access, await neededFor(scope, row), baseId, '*')
  requirePermission(scope.access, 'read', row.fromBase, '*')
  if ((await familiesOf(scope, [row])).has(row.tokenId)) throw ownRequest()
  const decide = async (within: WriteScope, promotion: Promotion | undefined): Promise<ReviewRequest> => {
    const by = authorOf(scope)
    const at = new Date().toISOString()
    const stored = { decision, note, by: snakeFields(by), at, promotion_id: promotion?.id ?? null }
    const { count } = await within.db.orm.reviewRequest.updateMany({
      where: { baseId, id, state: 'open', createdAt: row.createdAt },
      data: { state: STATE_OF[decision], decision: stored },
    })
    if (count === 0) throw isDecided()
    const decided = { ...row, state: STATE_OF[decision], decision: stored }
    await log(within, decided, 'update')
    return { ...toRequest(decided, () => false), ...(promotion && { promotion }) }
  }
  if (row.state !== 'open') throw isDecided()
  if (decision !== 'accept') return scope.db.transaction((tx) => decide({ ...scope, db: tx }, undefined))
  const asked = row.asked as Asked
  const request = {
    ...{ from: row.fromBase, ...asked },
    ...(resources && { resources }),
    ...(migration && { migration: { ...asked.migration, ...migration } }),
    ...(resolve && { resolve }),
  }
  let done: ReviewRequest | undefined
  const promotion = await promote(scope, baseId, request, async (within, promoted) => {
    done = await decide({ ...within, via: scope.via }, promoted)
  })
  if (!done) throw new Error('A promotion ended without its decision')
  return { ...done, promotion }
}

async function find(scope: Scope, baseId: string, id: string): Promise<Row> {
  const row = await scope.db.orm.reviewRequest.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) return row
  await requireBase(scope, baseId)
  throw new DomainError('NOT_FOUND', `There is no review request "${id.slice(0, 64)}".`, {
    details: [
      { path: '/id', code: 'review_request_not_found', message: 'List the review requests of the base.' },
    ],
  })
}

/** The permission on production that a decision needs: records are written, configuration is administered. */
const neededFor = async (scope: Scope, { fromBase }: Row): Promise<Permission> =>
  (await isChangeSet(scope, fromBase)) ? 'write' : 'admin'

/** Who may decide which of the requests: not who asked, in whatever tab of a browser. */
async function decider(scope: Scope, rows: readonly Row[]): Promise<(row: Row) => boolean> {
  const [first] = rows
  const { access } = scope
  if (!first || !access.allows('write', first.baseId, '*')) return () => false
  const own = await familiesOf(scope, rows)
  const needed = new Map<Row, Permission>()
  for (const row of rows) needed.set(row, await neededFor(scope, row))
  return (row) =>
    row.state === 'open' &&
    !own.has(row.tokenId) &&
    access.allows(needed.get(row) ?? 'admin', row.baseId, '*') &&
    access.allows('read', row.fromBase, '*')
}

/** The tokens that asked and are the caller's: the same token, or one of its tabs. */
async function familiesOf({ db, actor }: Scope, rows: readonly Row[]): Promise<ReadonlySet<string | null>> {
  const ids = [...new Set([actor.tokenId, ...rows.map(({ tokenId }) => tokenId)])].filter((id) => id !== null)
  const tokens = await db.orm.token.findMany({
    where: { id: { in: ids } },
    select: { id: true, signedInBy: true },
  })
  const rootOf = (id: string | null) => tokens.find((token) => token.id === id)?.signedInBy ?? id
  const mine = rootOf(actor.tokenId)
  return new Set(rows.map(({ tokenId }) => tokenId).filter((id) => rootOf(id) === mine))
}

const authorOf = ({ actor, via }: Scope): Author => ({
  ...{ tokenId: actor.tokenId, name: actor.name, via, kind: actor.kind ?? 'program' },
})

type StoredDecision = {
  decision: Decision
  note: string | null
  by: StoredAuthor
  at: string
  promotion_id: string | null
}
type StoredAuthor = { token_id: string | null; name: string; via: string; kind: ActorKind }

function toRequest(row: Row, mayDecide: (row: Row) => boolean): ReviewRequest {
  const stored = row.decision as StoredDecision | null
  return {
    id: row.id,
    kind: 'promotion',
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
    asked: row.asked as Asked,
    decision: stored && {
      ...{ decision: stored.decision, note: stored.note, at: stored.at, promotionId: stored.promotion_id },
      by: { tokenId: stored.by.token_id, name: stored.by.name, via: stored.by.via, kind: stored.by.kind },
    },
  }
}

/** Logs what was asked and decided. */
const log = (scope: Scope, row: Row, operation: 'create' | 'update'): Promise<void> =>
  appendChange(scope, {
    ...{ baseId: row.baseId, kind: 'review_request', id: row.id, operation },
    version: operation === 'create' ? 1 : 2,
    state: {
      ...{ id: row.id, kind: row.kind, from: row.fromBase, title: row.title, note: row.note },
      ...{ summary: row.summary, state: row.state, decision: row.decision },
    },
  })

function summaryText(changes: number, conflicts: number): string {
  const many = `${changes} change${changes === 1 ? '' : 's'}`
  return conflicts === 0 ? many : `${many}, ${conflicts} of production too`
}

/** A break is about the resource that its path begins with. */
function breakOf({ path, code, message, count }: Detail): Break {
  const [, kind = null, id = null] = path.split('/')
  return { kind, id, code, message, ...(typeof count === 'number' && { count }) }
}

const nothingToPromote = (from: string) =>
  new DomainError('CONFLICT', `"${from}" has no changes to promote.`, {
    details: [{ path: '/from', code: 'nothing_to_promote', message: 'Change the preview first.' }],
  })
const isDecided = () =>
  new DomainError('CONFLICT', 'This request is decided, or was asked anew meanwhile.', {
    details: [{ path: '/id', code: 'decided', message: 'Read it again to see its state.' }],
  })
const ownRequest = () =>
  new DomainError('FORBIDDEN', 'Nobody decides what they asked for themselves.', {
    details: [{ path: '/id', code: 'own_request', message: 'Another token with admin decides it.' }],
  })
