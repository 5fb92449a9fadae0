import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { read, type Scope } from '../../core/scope.ts'
import { bindFilter } from '../../data/filter/bind.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import { compileFor } from '../../records/query/compile-query.ts'
import { recordsAround } from '../../records/query/point-in-time-statements.ts'
import { UNSORTED } from '../../records/query/sort.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { shaped } from '../../storage/database/client.ts'
import { readCondition } from './read-condition.ts'

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
