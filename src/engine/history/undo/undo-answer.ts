/** What an undo answers: what it reverted, what it left, and its plan in words. */
import { LIMITS } from '../../../foundation/limits.ts'
import { renamesOf } from '../../configuration/record-types/index.ts'
import type { Change, Kind, Operation } from '../../log/entry.ts'
import type { MadeSecret } from '../revert.ts'
import type { FoundChange } from './find-changes.ts'
import type { Effects } from './find-effects.ts'
import type { LastRequest } from './last-request.ts'
import type { Renaming } from './migrated-records.ts'
import type { Obstacle, Step } from './plan-steps.ts'

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

export function answerOf(
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
export function sentence({ count, by, skipped, also, effects }: Undo): string {
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
export function renamesIn(steps: readonly Step[], renamings: readonly Renaming[]): string[] {
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
