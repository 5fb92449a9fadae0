/** What waits for a person in a base: promotions that somebody asked for, and tokens that are paused. */
import type { z } from 'zod'
import { digest, digestInTurns } from '../../contract/canonical-hash.ts'
import { ChangedResource, DecisionBody, PauseBody, ReviewBody } from '../../contract/config-shapes.ts'
import { productionOf } from '../../contract/ids.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, type DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { isChangeSet } from '../core/change-set/change-set-scope.ts'
import { holdChangeSet, requireOpen, requireRevision, takeStep } from '../core/change-set/lifecycle.ts'
import { changeSetState } from '../core/change-set/state.ts'
import { readNewest } from '../core/created-at-page.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Page, PageArgs } from '../core/page.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { ReviewRequest as Row } from '../prisma/client.ts'
import { requirePermission } from '../storage/access/access.ts'
import type { Permission } from '../storage/access/grants.ts'
import { openPause, ownerOfToken, pauseByHand, resume } from './change-sets/pauses.ts'
import { storeVerdict } from './change-sets/reviews.ts'
import { promote } from './promote.ts'
import type { Proposal } from './promotion.ts'
import { isPreview, previewMeant } from './promotion-request.ts'
import { propose } from './propose.ts'
import {
  type Asked,
  type Break,
  isDecided,
  logRequest,
  pauseOf,
  type ReviewRequest,
  type StoredAsked,
  storeDecision,
  toRequest,
} from './review-request-row.ts'
import { listsOf, readSnapshot, type Snapshot, snapshotIn } from './snapshot.ts'

export type { ReviewRequest } from './review-request-row.ts'

type Body = z.output<typeof DecisionBody>

/**
 * Asks for a promotion. What the same token asked for this preview, and is still open, is replaced: by another request where
 * what it asks for is another.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where there is nothing to promote
 */
export async function askForReview(scope: WriteScope, baseId: string, input: object): Promise<ReviewRequest> {
  const {
    kind = 'promotion',
    from: named,
    title,
    note = null,
    dry_run: _,
    ...asked
  } = check(ReviewBody, input, inBody())
  const proposal = await propose(scope, baseId, { ...(named !== undefined && { from: named }), ...asked })
  const { from, changes, breaks, conflicts, revision } = proposal
  const writable = scope.access.types('write', from)
  const state = await changeSetState(scope, from)
  const mayAsk = state && (writable === '*' || writable.size > 0)
  if (!mayAsk) requirePermission(scope.access, 'write', from, '*')
  if (state) requireOpen(from, state.status, '/from')
  if (changes.length === 0) throw nothingToPromote(from)
  const preview = await scope.db.orm.base.findUnique({ where: { id: from }, select: { name: true } })
  const { tokenId, name: actorName, kind: actorKind = 'program' } = scope.actor
  const stored = state ? asked : { ...asked, state: await stateOf(await readSnapshot(scope, from), asked) }
  const data = {
    ...{ kind, fromBase: from, asked: stored as object, tokenId, actorName, actorKind, via: scope.via },
    title: title ?? state?.title ?? `Promote ${preview?.name ?? from}`.slice(0, LIMITS.nameChars),
    note,
    summary: summaryText(changes.length, conflicts.length),
    breaks: breaks.slice(0, LIMITS.errorDetails).map(breakOf) as object[],
    ...{ createdAt: new Date(), revision: revision ?? null },
  }
  return scope.db.transaction(async (tx) => {
    // Requests for one preview take turns, so that the same token has one that is open.
    await tx.orm.base.update({ where: { id: from }, data: {}, select: { id: true } })
    const open = await tx.orm.reviewRequest.findFirst({
      where: { baseId, fromBase: from, tokenId, state: 'open' },
    })
    const within = { ...scope, db: tx }
    // Who looks at the one that was open decides nothing that was changed since.
    const isOther = open && !state && digest(open.asked) !== digest(stored)
    if (isOther) {
      await tx.orm.reviewRequest.delete({ where: { baseId_id: { baseId, id: open.id } } })
      await logRequest(within, open, 'delete')
    }
    const isSame = open && !isOther
    const row = isSame
      ? await tx.orm.reviewRequest.update({ where: { baseId_id: { baseId, id: open.id } }, data })
      : await tx.orm.reviewRequest.create({ data: { ...data, baseId, id: uuidv7() } })
    if (state) await submit(within, from, { seen: revision, title, note })
    await logRequest(within, row, isSame ? 'update' : 'create')
    return toRequest(row, await decider(within, [row]))
  })
}

/** What was proposed is what is submitted: a write meanwhile is none of it. */
async function submit(
  within: WriteScope,
  id: string,
  { seen, title, note }: { seen: number | undefined; title: string | undefined; note: string | null },
): Promise<void> {
  const held = await holdChangeSet(within.db, id)
  requireOpen(id, held.status, '/from')
  requireRevision(id, held, seen)
  const about = note === null ? {} : { text: note }
  await takeStep(within, id, { event: 'submitted', status: 'submitted', title, about })
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
      ? { baseId, state, fromBase: { in: [baseId, ...previews.map(({ id }) => id)] } }
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

/** What the caller asked for a preview last, however it was decided. As of a proposal, it need not be named. */
export async function newestReviewRequest(
  scope: Scope,
  baseId: string,
  named: string | undefined,
): Promise<ReviewRequest | null> {
  requirePermission(scope.access, 'read', baseId, '*')
  const from = await previewMeant(scope, baseId, named)
  const where = { baseId, fromBase: from, tokenId: scope.actor.tokenId }
  const row = await scope.db.orm.reviewRequest.findFirst({ where, orderBy: { createdAt: 'desc' } })
  return row && toRequest(row, () => false)
}

/** What the request would change now; null where it is decided, or its preview is deleted. */
export async function proposalOf(scope: Scope, request: ReviewRequest): Promise<Proposal | null> {
  const { kind, baseId, from, asked, state } = request
  if (kind === 'pause' || state !== 'open') return null
  const preview = await scope.db.orm.base.findUnique({ where: { id: from }, select: { id: true } })
  return preview && propose(scope, baseId, { from, ...asked })
}

/**
 * Decides a request: once, by somebody else than who asked. An acceptance promotes, or resumes, in the same transaction.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where it is decided, or what `promote` throws
 */
export async function decideReviewRequest(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: object,
): Promise<ReviewRequest> {
  requirePermission(scope.access, 'write', baseId, '*')
  const body = check(DecisionBody, input, inBody())
  const { decision, note = null, revision: seen, ...chosen } = body
  const { resources, migration, resolve } = chosen
  const row = await find(scope, baseId, id)
  const from = row.fromBase
  requirePermission(scope.access, await neededFor(scope, row), baseId, '*')
  requirePermission(scope.access, 'read', from, '*')
  if ((await ownTokens(scope)).has(row.ownToken)) throw ownRequest()
  if (row.state !== 'open') throw isDecided()
  if (row.kind === 'pause') return endPause(scope, row, body)
  const isOfRecords = await isChangeSet(scope, from)
  const revision = isOfRecords ? (seen ?? row.revision ?? undefined) : undefined
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    if (isOfRecords) {
      const ofRecords =
        decision === 'accept' && resources ? ChangedResource.array().parse(resources) : undefined
      await storeVerdict(within, from, await holdChangeSet(tx, from), {
        ...{ verdict: VERDICT_OF[decision], revision },
        ...{ resources: ofRecords, text: note ?? undefined },
      })
    }
    if (decision !== 'accept') return storeDecision(within, row, { decision, note, promotionId: null })
    const { migration: wanted = {}, state, ...asked } = row.asked as StoredAsked
    // Steps that were asked for are none of a part without their type.
    const isPart = (type: string) =>
      !resources || resources.some(({ kind, id }) => kind === 'record_type' && id === type)
    const steps = {
      ...Object.fromEntries(Object.entries(wanted).filter(([type]) => isPart(type))),
      ...migration,
    }
    const request = {
      ...{ from, ...asked },
      ...(resources && { resources }),
      ...(Object.keys(steps).length > 0 && { migration: steps }),
      ...(resolve && { resolve }),
      ...(revision !== undefined && { revision }),
    }
    let done: ReviewRequest | undefined
    const promotion = await promote(within, baseId, request, async (inner, promoted) => {
      if (state !== undefined && state !== (await stateOf(await snapshotIn(inner.db, from), asked)))
        throw changedSince(from)
      done = await storeDecision({ ...inner, via: scope.via }, row, {
        ...{ decision, note, promotionId: promoted.id },
      })
    })
    if (!done) throw new Error('A promotion ended without its decision')
    // What is left of a change-set is with who wrote it again.
    if (isOfRecords)
      await tx.orm.changeSet.updateMany({ where: { baseId: from, closedAt: null }, data: { status: 'open' } })
    return { ...done, promotion }
  })
}

/**
 * Pauses a token in a base, until somebody resumes it.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function pauseToken(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: object,
): Promise<ReviewRequest> {
  const { note = null } = check(PauseBody, input, inBody())
  if (productionOf(baseId) !== baseId) throw isPreview(baseId)
  const owner = await ownerOfToken(scope.db, id)
  if ((await ownTokens(scope)).has(owner)) throw ownToken()
  return getReviewRequest(scope, baseId, await pauseByHand(scope, baseId, owner, note))
}

/** Ends the pause of a token, however it came. @throws FORBIDDEN; NOT_FOUND; CONFLICT where it is not paused */
export async function resumeToken(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: object,
): Promise<ReviewRequest> {
  const { note } = check(PauseBody, input, inBody())
  if (productionOf(baseId) !== baseId) throw isPreview(baseId)
  requirePermission(scope.access, 'write', baseId, '*')
  const open = await openPause(scope, baseId, id)
  if (!open) throw notPaused(baseId)
  return decideReviewRequest(scope, baseId, open.id, { decision: 'accept', note })
}

/** @throws VALIDATION_ERROR for another decision than to resume the token */
function endPause(scope: WriteScope, row: Row, body: Body): Promise<ReviewRequest> {
  const { decision, note = null, dry_run: _, ...chosen } = body
  if (decision !== 'accept') throw onlyResumed(decision)
  const [other] = Object.keys(chosen)
  if (other !== undefined) throw notOfPauses(other)
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    await resume(within, row.baseId, pauseOf(row))
    return storeDecision(within, row, { decision, note, promotionId: null })
  })
}

/** A digest of what a preview has of what was asked for. */
const stateOf = (snapshot: Snapshot, { resources }: Pick<Asked, 'resources'>): Promise<string> =>
  digestInTurns(resources?.map(({ kind, id }) => snapshot.get(kind)?.get(id) ?? null) ?? listsOf(snapshot))

const VERDICT_OF = { accept: 'approve', decline: 'reject', send_back: 'request_changes' } as const

async function find(scope: Scope, baseId: string, id: string): Promise<Row> {
  const row = await scope.db.orm.reviewRequest.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) return row
  await requireBase(scope, baseId)
  throw oneFault('NOT_FOUND', `There is no review request "${id.slice(0, 64)}".`, {
    path: '/id',
    code: 'review_request_not_found',
    message: 'List the review requests of the base.',
  })
}

/** The permission on production that a decision needs: who writes lets records and writers pass, configuration is administered. */
const neededFor = async (scope: Scope, { kind, fromBase }: Row): Promise<Permission> =>
  kind === 'pause' || (await isChangeSet(scope, fromBase)) ? 'write' : 'admin'

/** Who may decide which of the requests: not who asked, in whatever tab of a browser. */
async function decider(scope: Scope, rows: readonly Row[]): Promise<(row: Row) => boolean> {
  const [first] = rows
  const { access } = scope
  if (!first || !access.allows('write', first.baseId, '*')) return () => false
  const own = await ownTokens(scope)
  const needed = new Map<Row, Permission>()
  for (const row of rows) needed.set(row, await neededFor(scope, row))
  return (row) =>
    row.state === 'open' &&
    !own.has(row.ownToken) &&
    access.allows(needed.get(row) ?? 'admin', row.baseId, '*') &&
    access.allows('read', row.fromBase, '*')
}

/** The tokens that asked for the caller: its own, of which a tab is a part, and the one that allowed it as a client. */
async function ownTokens({ db, actor: { tokenId } }: Scope): Promise<ReadonlySet<string | null | undefined>> {
  const own = await db.orm.token.findUnique({
    where: { id: tokenId ?? '' },
    select: { signedInBy: true, authorization: { select: { grantedBy: true } } },
  })
  return new Set([own?.signedInBy ?? tokenId, own?.authorization?.grantedBy])
}

function summaryText(changes: number, conflicts: number): string {
  const many = `${changes} change${changes === 1 ? '' : 's'}`
  return conflicts === 0 ? many : `${many}, ${conflicts} of production too`
}

/** A break is about the resource that its path begins with. */
function breakOf({ path, code, message, count }: Detail): Break {
  const [, kind = null, id = null] = path.split('/')
  return { kind, id, code, message, ...(typeof count === 'number' && { count }) }
}

function changedSince(from: string): DomainError {
  const message = `"${from}" was changed since this promotion was asked for. Nothing was decided: who asked has to ask anew.`
  return oneFault('CONFLICT', message, { path: '/id', code: 'changed_since' })
}

const nothingToPromote = (from: string) =>
  oneFault('CONFLICT', `"${from}" has no changes to promote.`, {
    path: '/from',
    code: 'nothing_to_promote',
    message: 'Change the preview first.',
  })
const onlyResumed = (received: string) =>
  invalid({
    path: '/decision',
    code: 'only_accept',
    message:
      'A pause ends with "accept". What the token wrote is taken back by an undo of its changes; to stop it for good, revoke it.',
    received,
    expected: 'accept',
  })
const notOfPauses = (field: string) =>
  invalid({
    path: `/${field}`,
    code: 'exclusive',
    message: `A pause has nothing to choose from. Leave ${field} out.`,
  })
const ownToken = () =>
  oneFault('FORBIDDEN', 'A token does not pause itself: it could not be resumed with it.', {
    path: '/id',
    code: 'own_token',
    message: 'Stop using it, revoke it, or let another token pause it.',
  })
const notPaused = (baseId: string) =>
  oneFault('CONFLICT', `This token is not paused in base "${baseId.slice(0, 64)}".`, {
    path: '/id',
    code: 'not_paused',
    message: 'List the review requests of the base: each token that is paused has one.',
  })
const ownRequest = () =>
  oneFault('FORBIDDEN', 'Nobody decides what they asked for themselves.', {
    path: '/id',
    code: 'own_request',
    message: 'Another token with admin decides it.',
  })
