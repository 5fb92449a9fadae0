/** Reverts all changes of a request, or of an actor since a time, in one transaction. */

import { digestInTurns } from '../../../contract/canonical-hash.ts'
import { toSnake } from '../../../contract/field-names.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { type Detail, DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { nextTurn } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { lockConfiguration } from '../../configuration/lifecycle/lock.ts'
import { renamesOf, requireType } from '../../configuration/record-types/index.ts'
import { requireBase } from '../../core/existing-base.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import { viewerOf } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { hasUnique } from '../../data/indexes/index.ts'
import type { Change, Kind, Operation } from '../../log/entry.ts'
import { type ChangeFilter, type ChangeFilterArgs, readChangeFilter, readSeq } from '../../log/filter.ts'
import { wholeLog } from '../../log/ranges.ts'
import type { Reader } from '../../log/read.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import type { MadeSecret } from '../revert.ts'
import { type FoundChange, findChanges, tooMany } from './find-changes.ts'
import { type Effects, withEffects } from './find-effects.ts'
import { findLastRequest, type LastRequest } from './last-request.ts'
import { causesOf, findRenamings, leaveToRenames, type Renaming } from './migrated-records.ts'
import { addDiffs, addTitles, effectsOf } from './plan-details.ts'
import { type Obstacle, type Step, stepsOf } from './plan-steps.ts'
import { openPolicyCheck } from './policy-check.ts'
import { LOCK_LINKS, LOCK_RECORDS } from './record-steps.ts'
import { mapResourceEntries, nameOf } from './resource-entries.ts'
import { runWave } from './run-steps.ts'
import { schedule } from './schedule.ts'

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
  /** What happens to resources that others changed since: the undo is refused, leaves them, or takes those changes back too. */
  onConflict: 'fail' | 'skip' | 'force'
}

/** A change that was reverted, and what the revert did. */
export type Undone = {
  reverts: number
  kind: Kind
  recordType: string | null
  id: string
  operation: Operation
  /** What the revert changes, from now, if that was asked for. */
  diff?: Change['diff'] | undefined
  title?: string | null | undefined
}
export type Skipped = {
  title?: string | null | undefined
  kind: Kind
  recordType: string | null
  id: string
  /** The change that was not reverted. */
  seq: number
  /** The later change in the way, if it is one. */
  overtakenBy: number | null
  code: string
  message: string
}
export type Undo = {
  requestId: string
  /** What is undone, if the call did not name it. */
  last: LastRequest | null
  count: number
  by: { kind: Kind; recordType: string | null; operation: Operation; count: number }[]
  data: Undone[]
  /** What came after, and was reverted too. */
  also: Undone[]
  skipped: Skipped[]
  /** Secrets that were made for what it brought back. */
  secrets?: readonly MadeSecret[]
  /** What followed from the changes, if that was to be undone too. */
  effects: Effects | null
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
    if (planning && state) {
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

function checkSelection({
  last,
  onConflict: _,
  withEffects: __,
  withDiffs: ___,
  withTitles: ____,
  promotion: _____,
  ...named
}: UndoArgs): void {
  const { seq, requestId, actor, since, until } = named
  readSeq('seq', seq)
  if (last) {
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

const SAVEPOINT = statement('undo_round', 'SAVEPOINT undo_round')
const ROLL_BACK = statement('undo_round_back', 'ROLLBACK TO SAVEPOINT undo_round')

type Outcome = { steps: Step[]; skipped: Obstacle[]; renamings: readonly Renaming[] }

/** Reverts what can be reverted. What others need, or the data of today refuses, is found only by trying. */
async function revertAll(
  undoing: { scope: WriteScope; baseId: string },
  changes: readonly FoundChange[],
  onConflict: UndoArgs['onConflict'],
): Promise<Outcome> {
  const { scope, baseId } = undoing
  const plans = await mapResourceEntries(scope.db, baseId, changes, (of) => ({
    ...{ changes: [...of.changes.values()], found: stepsOf(of, onConflict === 'force') },
  }))
  const renamings = await findRenamings(scope.db, baseId, changes)
  const planned = leaveToRenames(plans, renamings)
  const skipped = planned.flatMap((found) => ('code' in found ? [found] : []))
  let steps = planned.flatMap((found) => ('code' in found ? [] : found))
  if (steps.length > LIMITS.undoneChanges) throw tooMany()
  if (skipped.length > 0 && onConflict !== 'skip') throw conflict(skipped)
  const leave = (obstacles: readonly Obstacle[]) => {
    const left = [...obstacles, ...recordsOfTypes(obstacles, steps), ...changesOfPromotions(obstacles, steps)]
    skipped.push(...left)
    const refused = new Set(left.map(({ change }) => nameOf(change)))
    steps = steps.filter(({ change }) => !refused.has(nameOf(change)))
  }
  leave(skipped.splice(0))
  await nextTurn()
  steps.sort((a, b) => b.change.seq - a.change.seq)
  const competing = await competingTypes(scope, baseId, steps)
  const outOfReach = await openPolicyCheck(scope, baseId, steps)
  for (let round = 0; round < LIMITS.undoRounds; round++) {
    await scope.db.query(SAVEPOINT, [])
    const competes = ({ change, movesPair }: Step) => movesPair || competing.has(change.recordType ?? '')
    const failed = await runAll(undoing, steps, competes)
    const obstacles = failed.length > 0 ? failed : await outOfReach(steps)
    if (obstacles.length === 0) return { steps, skipped, renamings }
    if (onConflict !== 'skip') throw conflict(obstacles)
    await scope.db.query(ROLL_BACK, [])
    leave(obstacles)
  }
  throw conflict(skipped)
}

/** The records of types that stay as they are: a migration changed both, so that one alone would not fit the other. */
function recordsOfTypes(obstacles: readonly Obstacle[], steps: readonly Step[]): Obstacle[] {
  const types = new Set(obstacles.flatMap(({ change: { kind, id } }) => (kind === 'record_type' ? id : [])))
  const changes = new Map(
    steps.flatMap(({ change }) =>
      change.kind === 'record' && types.has(change.recordType ?? '') ? [[nameOf(change), change]] : [],
    ),
  )
  return [...changes.values()].map((change) => ({
    change,
    code: 'refused',
    by: null,
    message: 'A change of its record type stays, which is part of this undo too.',
  }))
}

/** The changes of promotions: a part of one undone would leave it applied in the history, and not in the base. */
function changesOfPromotions(obstacles: readonly Obstacle[], steps: readonly Step[]): Obstacle[] {
  const promotions = new Set(
    obstacles.flatMap(({ change: { kind, id } }) => (kind === 'promotion' ? id : [])),
  )
  const changes = new Map(
    steps.flatMap(({ change }) =>
      change.kind !== 'promotion' && promotions.has(change.cause ?? '') ? [[nameOf(change), change]] : [],
    ),
  )
  return [...changes.values()].map((change) => ({
    change,
    code: 'refused',
    by: null,
    message: `Promotion "${change.cause}" made it. Roll the promotion back by its id.`,
  }))
}

async function runAll(
  undoing: { scope: WriteScope; baseId: string },
  steps: readonly Step[],
  competes: (step: Step) => boolean,
): Promise<Obstacle[]> {
  const within = { ...undoing, causesOf: (change: number) => causesOf(steps, change) }
  for (const wave of schedule(steps, ({ change }) => nameOf(change), competes)) {
    const obstacles = await runWave(within, wave)
    if (obstacles.length > 0) return obstacles
  }
  return []
}

/** The types whose records compete for unique values. */
async function competingTypes(
  scope: WriteScope,
  baseId: string,
  steps: readonly Step[],
): Promise<Set<string>> {
  const competing = new Set<string>()
  for (const id of new Set(steps.map(({ change }) => change.recordType)))
    if (id !== null && (await isCompeting(scope, baseId, id))) competing.add(id)
  return competing
}

async function isCompeting(scope: WriteScope, baseId: string, id: string): Promise<boolean> {
  try {
    return hasUnique(await requireType(scope, baseId, id))
  } catch (thrown) {
    // Deleted: the undo may bring it back. Its indexes are not known.
    if (thrown instanceof DomainError && thrown.code === 'NOT_FOUND') return true
    throw thrown
  }
}

function answerOf(
  requestId: string,
  steps: readonly Step[],
  skipped: readonly Obstacle[],
  changes: readonly FoundChange[],
): Omit<Undo, 'last' | 'effects'> {
  const asked = new Set(changes.map(({ seq }) => seq))
  const all = steps.map(
    ({ change: { seq, kind, recordType, id, operation }, act }): Undone => ({
      reverts: seq,
      kind,
      recordType,
      id,
      operation: inverse(kind, operation, act.kind),
    }),
  )
  const groups = Map.groupBy(all, ({ kind, recordType, operation }) => `${kind}\n${recordType}\n${operation}`)
  const by = [...groups.values()].map((all) => {
    const { kind, recordType, operation } = all[0] as Undone
    return { kind, recordType, operation, count: all.length }
  })
  return {
    requestId,
    count: all.length,
    by: by.sort((a, b) => b.count - a.count),
    data: all.filter(({ reverts }) => asked.has(reverts)),
    also: all.filter(({ reverts }) => !asked.has(reverts)),
    skipped: skipped.map(({ change: { kind, recordType, id, seq }, by: overtakenBy, code, message }) => ({
      ...{ kind, recordType, id, seq, overtakenBy, code, message },
    })),
  }
}

function inverse(kind: Kind, operation: Operation, act: Step['act']['kind']): Operation {
  if (act === 'delete') return 'delete'
  if (act === 'restore') return kind === 'record' ? 'restore' : 'create'
  return operation === 'cancel' ? 'restore' : operation === 'restore' ? 'cancel' : 'update'
}

const VERBS = {
  create: 'creates',
  update: 'updates',
  cancel: 'cancels',
  delete: 'deletes',
  restore: 'restores',
}

/** `Undoes 3 changes: updates 2 deal, deletes 1 note. Skips 1.` */
function sentence({ count, by, skipped, also, effects }: Undo): string {
  const parts = by
    .slice(0, LIMITS.planNames)
    .map(
      ({ kind, recordType, operation, count }) =>
        `${VERBS[operation]} ${count} ${recordType ?? plural(kind, count)}`,
    )
  const more = by.length > parts.length ? ', …' : ''
  const what = `Undoes ${count} change${count === 1 ? '' : 's'}${count > 0 ? `: ${parts.join(', ')}${more}` : ''}.`
  const stay = (effects?.deliveries.length ?? 0) + (effects?.runs.length ?? 0)
  return [
    what,
    ...(effects && effects.changes > 0 ? [`${effects.changes} of them followed from the others.`] : []),
    ...(also.length > 0 ? [`Takes back ${also.length} that came after.`] : []),
    ...(stay > 0 ? [`What ${stay} deliveries and runs sent out stays sent.`] : []),
    ...(skipped.length > 0 ? [`Skips ${skipped.length}.`] : []),
  ].join(' ')
}

/** `Renames value to amount in deal.` */
function renamesIn(steps: readonly Step[], renamings: readonly Renaming[]): string[] {
  const undone = new Set(steps.map(({ change }) => change.seq))
  return renamings
    .filter(({ type }) => undone.has(type.seq))
    .flatMap(({ type, steps: made }) =>
      renamesOf(made).map(({ from, to }) => `Renames ${to} to ${from} in ${type.id}.`),
    )
    .slice(0, LIMITS.planNames)
}

/** `2 relationship types` */
const plural = (kind: Kind, count: number) => `${kind.replaceAll('_', ' ')}${count === 1 ? '' : 's'}`

function conflict(obstacles: readonly Obstacle[]): DomainError {
  const details = obstacles.map(
    ({ change: { kind, recordType, id, seq }, code, by, message }): Detail => ({
      path: '',
      code,
      message: `Change ${seq} of ${recordType ?? kind} "${id}": ${message}`,
      received: seq,
      ...(by !== null && { expected: by }),
    }),
  )
  const isLater = obstacles.some(({ by }) => by !== null)
  const later = isLater ? ' on_conflict=force undoes the changes that came after, too.' : ''
  return new DomainError(
    'CONFLICT',
    `${obstacles.length} of the resources cannot be reverted, because something else depends on their current state. Nothing was written. Send on_conflict=skip to leave them as they are.${later}`,
    { details },
  )
}

/** Names what was looked for. */
function nothingFound(asked: object): DomainError {
  const given = Object.entries(asked).filter(([, value]) => value != null)
  const what = given.map(([name, value]) => `${toSnake(name)} ${JSON.stringify(value)}`).join(', ')
  const message = `No change that this token can read matches ${what}. ${advised('list_changes')} lists what was changed by which request.`
  return oneFault('NOT_FOUND', message, { path: '', code: 'change_not_found' })
}
