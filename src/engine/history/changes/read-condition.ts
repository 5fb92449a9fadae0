/** The condition of readers of the change stream: that of triggers, on the record before and after a change. */
import { invalid } from '../../../foundation/errors.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { checkChangeCondition, parseChangeCondition } from '../../data/filter/change-condition.ts'
import type { Change } from '../../log/entry.ts'
import { entriesMeeting } from '../../records/query/matching-entries.ts'

/** Keeps the changes that meet a condition, in order. */
export type ConditionFilter = <T extends Pick<Change, 'seq' | 'recordType'>>(
  changes: readonly T[],
) => Promise<readonly T[]>

type Args = { condition?: unknown; recordType?: string | null | undefined; kind?: string | null | undefined }

/**
 * Reads a condition; null without one. Changes of other kinds than records never meet it.
 * @throws VALIDATION_ERROR; NOT_FOUND without the record type
 */
export async function readCondition(
  scope: Scope,
  baseId: string,
  { condition, recordType, kind }: Args,
): Promise<ConditionFilter | null> {
  if (condition == null) return null
  if (kind != null && kind !== 'record') throw onRecordsOnly()
  const parsed = parseChangeCondition(condition, '/condition')
  checkChangeCondition(parsed, recordType ? await requireType(scope, baseId, recordType) : null)
  return async (changes) => {
    const entries = changes.flatMap(({ seq, recordType }) => (recordType === null ? [] : { seq, recordType }))
    if (entries.length === 0) return []
    // Limit the concurrency: one write may concern many readers.
    const met = await scope.longPolls.inTurn(scope.actor.tokenId ?? '', () =>
      entriesMeeting(scope, baseId, parsed, entries),
    )
    return changes.filter(({ seq }) => met.has(seq))
  }
}

const onRecordsOnly = () =>
  invalid({
    path: '/kind',
    code: 'exclusive',
    message: 'condition tests records only. Send kind "record" with it, or leave kind out.',
  })
