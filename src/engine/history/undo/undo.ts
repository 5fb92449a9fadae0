/** Reverts all changes of a request, or of an actor since a time, in one transaction. */

import { digestInTurns } from '../../../contract/canonical-hash.ts'
import { toSnake } from '../../../contract/field-names.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { nextTurn } from '../../../foundation/event-loop-turns.ts'
import { lockConfiguration } from '../../configuration/lifecycle/lock.ts'
import { requireBase } from '../../core/existing-base.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import { viewerOf } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type ChangeFilter, type ChangeFilterArgs, readChangeFilter, readSeq } from '../../log/filter.ts'
import { wholeLog } from '../../log/ranges.ts'
import type { Reader } from '../../log/read.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import type { MadeSecret } from '../revert.ts'
import { type FoundChange, findChanges } from './find-changes.ts'
import { withEffects } from './find-effects.ts'
import { findLastRequest } from './last-request.ts'
import { addDiffs, addTitles, effectsOf } from './plan-details.ts'
import type { Obstacle } from './plan-steps.ts'
import { LOCK_LINKS, LOCK_RECORDS } from './record-steps.ts'
import { type OnConflict, revertAll } from './revert-all.ts'
import { answerOf, renamesIn, sentence, type Undo } from './undo-answer.ts'

export type { Skipped, Undo, Undone } from './undo-answer.ts'

type PromotionPart = { readonly id: string; readonly takes: (key: string) => boolean }

export type UndoArgs = Pick<ChangeFilterArgs, 'requestId' | 'actor' | 'since' | 'until' | 'recordType'> & {
  /** Of the request, only what the promotion of a change-set did to what it `takes`, such as `record deal/d1`. */
  promotion?: PromotionPart
  /** One change. */
  seq?: number | null | undefined
  /** The last request of the caller that is not undone. It goes without the others. */
  last?: boolean | null | undefined
  /** Whether what triggers and actions did because of the changes is undone too. */
  withEffects?: boolean
  /** As a plan shows it: with the diff of each revert, and what followed from the changes. */
  withDiffs?: boolean
  withTitles?: boolean
  onConflict: OnConflict
}

/**
 * Reverts the changes that match, newest first, each with a change whose cause it is.
 * @throws VALIDATION_ERROR without a request, a change, an actor with a time, or `last`; FORBIDDEN without `write` on
 * all of it; NOT_FOUND when nothing matches; CONFLICT when something else has changed it since
 */
export async function undoChanges(scope: WriteScope, baseId: string, args: UndoArgs): Promise<Undo> {
  requireBaseAccess(rightsOf(scope), baseId)
  const here = endpointOf(scope, args)
  const { seq = null, last: isLast, onConflict, withEffects: takesEffects = false, promotion, ...rest } = args
  const { withDiffs = false, withTitles = false, ...filter } = rest
  checkSelection(args)
  if (filter.recordType) requirePermission(rightsOf(scope), 'read', baseId, filter.recordType)
  const named: Reader = {
    ...{ ...viewerOf(scope), access: rightsOf(scope) },
    filter: { ...readChangeFilter(filter, scope.planning?.plannedAt), ...here },
  }
  return scope.db.transaction(async (tx) => {
    // Also what readers do not see yet, because an older write is open: an answered request is whole.
    const { upTo } = await wholeLog(tx, baseId)
    const { planning, ...rest } = scope
    // The last one of each: what does not go together is tried again.
    const made = new Map<string, MadeSecret>()
    const onSecret: WriteScope['onSecret'] = (kind, id, secret) =>
      void made.set(`${kind}/${id}`, { kind, id, secret })
    const undoing = { scope: { ...rest, db: tx, onSecret } as WriteScope, baseId }
    // A plan stays with the request that it was made for, whatever its caller did since.
    const until = planning?.plannedAt ? new Date(planning.plannedAt + 1).toISOString() : null
    const own = isLast
      ? await findLastRequest(tx, baseId, named, named.filter.endpoint, upTo, until)
      : undefined
    const found = await findChanges(tx, baseId, own?.reader ?? named, upTo, seq)
    const asked = promotion === undefined ? found : madeBy(promotion, found)
    const { changes, effects } = takesEffects
      ? await withEffects(tx, baseId, named, asked, upTo)
      : { changes: asked, effects: withDiffs ? await effectsOf(tx, baseId, named, asked, upTo) : null }
    if (changes.length === 0) {
      await requireBase(scope, baseId)
      throw nothingFound({ seq, ...filter })
    }
    requireRights(undoing.scope, baseId, changes)
    await nextTurn()
    await lock(undoing.scope, baseId, changes)
    const { steps, skipped, renamings } = await revertAll(undoing, changes, onConflict)
    await nextTurn()
    const answer = answerOf(
      scope.requestId,
      steps,
      scope.policy ? skipped.map(unexplained) : skipped,
      changes,
    )
    const undo = { ...answer, last: own?.last ?? null, effects }
    // What the plan shows besides is no part of what is approved.
    const state = planning && (await digestInTurns([undo.data, undo.also, undo.skipped]))
    if (withDiffs && !scope.policy) await addDiffs(undoing.scope, baseId, upTo, [...undo.data, ...undo.also])
    if (withTitles) await addTitles(undoing.scope, baseId, [...undo.data, ...undo.also, ...undo.skipped])
    // A plan that was carried out, whose answer may have been lost, leaves nothing to compare.
    if (planning && state && undo.count + undo.skipped.length > 0) {
      const what = [sentence(undo), ...renamesIn(steps, renamings)].join(' ')
      // With nothing left to do there is nothing to ask.
      planning.checkApproval(undo.count > 0, () => ({ state, what, plan: { what, undo } }))
    }
    await nextTurn()
    const secrets = steps.flatMap(({ change: { kind, id } }) => made.get(`${kind}/${id}`) ?? [])
    return secrets.length === 0 ? undo : { ...undo, secrets }
  })
}

/** What a promotion of a change-set did, and what that took with it. The entries of a request are newest first. */
function madeBy(promotion: PromotionPart, found: readonly FoundChange[]): FoundChange[] {
  const causes = new Set<string>()
  const made = found.toReversed().filter(({ kind, recordType, id, cause, seq }) => {
    if (kind !== 'record' && kind !== 'relationship') return false
    const key = `${kind} ${recordType === null ? '' : `${recordType}/`}${id}`
    const isOf = cause === promotion.id ? promotion.takes(key) : cause !== null && causes.has(cause)
    if (isOf) causes.add(String(seq))
    return isOf
  })
  return made.toReversed()
}

function checkSelection({ last, seq, requestId, actor, since, until, recordType }: UndoArgs): void {
  readSeq('seq', seq)
  if (last) {
    const named = { seq, requestId, actor, since, until, recordType }
    const [other] = Object.entries(named).find(([, value]) => value != null) ?? []
    if (other !== undefined) throw notWithLast(toSnake(other))
    return
  }
  if (seq != null || requestId != null || (actor != null && (since != null || until != null))) return
  throw invalid({
    path: actor == null ? '/request_id' : '/since',
    code: 'required',
    message: `Send request_id, or actor together with since or until. ${advised('list_changes')} lists what was changed by which request.`,
  })
}

const notWithLast = (field: string) =>
  invalid({
    path: `/${field}`,
    code: 'exclusive',
    message: `last means the last request of this token. Leave ${field} out, or leave last out.`,
  })

/**
 * At an endpoint, an undo takes back requests of its caller there and nothing else.
 * @throws FORBIDDEN
 */
function endpointOf(
  { policy, call, actor }: WriteScope,
  { seq, actor: named, onConflict, withEffects }: UndoArgs,
): Partial<ChangeFilter> {
  if (!policy) return {}
  const endpoint = call?.endpoint ?? null
  const isPlain = seq == null && named == null && onConflict === 'skip' && !withEffects
  if (endpoint !== null && actor.tokenId !== null && isPlain) return { actor: actor.tokenId, endpoint }
  throw oneFault('FORBIDDEN', 'This address takes back only your own requests here.', {
    path: '',
    code: 'out_of_bounds',
    message: 'Send request_id, or nothing for your last request.',
  })
}

/** The fault of a state can name hidden properties. */
const unexplained = (obstacle: Obstacle): Obstacle =>
  obstacle.code === 'refused' && obstacle.change.kind !== 'attachment'
    ? { ...obstacle, message: 'This address cannot write the state before it.' }
    : obstacle

/** @throws FORBIDDEN */
function requireRights(scope: WriteScope, baseId: string, changes: readonly FoundChange[]): void {
  const access = rightsOf(scope)
  for (const { kind, recordType, id, ends } of changes)
    if (kind === 'record') requirePermission(access, 'write', baseId, recordType ?? '')
    else if (kind === 'relationship' || kind === 'attachment')
      for (const end of ends) requirePermission(access, 'write', baseId, end)
    else if (kind === 'file') requirePermission(access, 'write', baseId, '*')
    else requirePermission(access, 'manage', baseId, kind === 'record_type' ? id : '*')
}

async function lock(scope: WriteScope, baseId: string, changes: readonly FoundChange[]): Promise<void> {
  const of = (wanted: string) => changes.filter(({ kind }) => kind === wanted)
  const [records, links, files] = [of('record'), of('relationship'), of('file')]
  if (records.length + links.length + files.length < changes.length) await lockConfiguration(scope, baseId)
  const types = records.map(({ recordType }) => recordType)
  if (records.length > 0) await scope.db.query(LOCK_RECORDS, [baseId, types, records.map(({ id }) => id)])
  if (links.length > 0) await scope.db.query(LOCK_LINKS, [baseId, links.map(({ id }) => id)])
}

/** Names what was looked for. */
function nothingFound(asked: object): DomainError {
  const given = Object.entries(asked).filter(([, value]) => value != null)
  const what = given.map(([name, value]) => `${toSnake(name)} ${JSON.stringify(value)}`).join(', ')
  const message = `No change that this token can read matches ${what}. ${advised('list_changes')} lists what was changed by which request.`
  return oneFault('NOT_FOUND', message, { path: '', code: 'change_not_found' })
}
