import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { read, type Scope } from '../../core/scope.ts'
import { checkChangeCondition, parseChangeCondition } from '../../data/filter/change-condition.ts'
import { bindFilter } from '../../data/filter/check-fields.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import type { Change } from '../../log/entry.ts'
import { compileFor } from '../../records/query/compile-query.ts'
import { entriesMeeting } from '../../records/query/matching-entries.ts'
import { recordsAround } from '../../records/query/point-in-time-statements.ts'
import { UNSORTED } from '../../records/query/sort.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { shaped } from '../../storage/database/client.ts'

/** A JSON filter of records, a condition on changes, and sequence numbers of log entries. */
type MatchArgs = { filter?: unknown; condition?: unknown; seqs: readonly number[] }

/**
 * Whether one of the entries concerns a record that matched the filter before or after the change, and meets the
 * condition. States that are no longer retained count as not matching.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base
 * or type
 */
export async function changesMatch(
  scope: Scope,
  baseId: string,
  recordType: string,
  { filter, condition, seqs }: MatchArgs,
): Promise<boolean> {
  requirePermission(scope.access, 'read', baseId, recordType)
  checkSeqs(seqs)
  // Without a condition, the entries are still to be of the type.
  const parsed = filter == null && condition != null ? null : parseFilter(filter ?? ANY, '/filter')
  const meeting = await readCondition(scope, baseId, { condition, recordType })
  const type = await requireType(scope, baseId, recordType)
  const bound = parsed && bindFilter(parsed, type)
  const met = meeting ? await meeting(seqs.map((seq) => ({ seq, recordType }))) : seqs.map((seq) => ({ seq }))
  if (!bound || met.length === 0) return met.length > 0
  // Declared indexes cover only current records.
  const { parameters, operands } = compileFor({ baseId, type: { ...type, indexes: [] }, sort: UNSORTED })
  const states = recordsAround({
    base: parameters.add(baseId),
    recordType: parameters.add(recordType),
    seqs: parameters.add(met.map(({ seq }) => seq)),
  })
  const { text, values } = parameters.bind(
    `SELECT EXISTS (SELECT FROM ${states} r WHERE ${compileFilter(bound, operands)}) AS found`,
  )
  // Limit the concurrency: one write may concern subscribers of many filters.
  const [row] = await scope.longPolls.inTurn(scope.actor.tokenId ?? '', () =>
    read<{ found: boolean }>(scope, shaped(text), values),
  )
  return row?.found ?? false
}

const ANY = { field: 'id', op: 'is_not_null' }

function checkSeqs(seqs: readonly number[]): void {
  if (seqs.length <= LIMITS.matchedEntries && seqs.every((seq) => Number.isSafeInteger(seq) && seq >= 0))
    return
  throw invalid({
    path: '/seqs',
    code: 'out_of_range',
    message: `seqs must be at most ${LIMITS.matchedEntries} whole numbers from 0.`,
  })
}

// The condition of readers of the change stream: that of triggers, on the record before and after a change.

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
