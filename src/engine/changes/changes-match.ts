import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { requirePermission } from '../access/access.ts'
import { requireType } from '../configuration/record-types/index.ts'
import { read, type Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { bindFilter } from '../filter/bind.ts'
import { compileFilter } from '../filter/compile.ts'
import { parseFilter } from '../filter/parse.ts'
import { compileFor } from '../query/compile-query.ts'
import { recordsAround } from '../query/point-in-time-statements.ts'
import { UNSORTED } from '../query/sort.ts'

/** A JSON filter of records, and sequence numbers of log entries. */
type MatchArgs = { filter?: unknown; seqs: readonly number[] }

/**
 * Whether one of the entries concerns a record that matched the filter before or after the change. States
 * that are no longer retained count as not matching.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base
 * or type
 */
export async function changesMatch(
  scope: Scope,
  baseId: string,
  recordType: string,
  { filter, seqs }: MatchArgs,
): Promise<boolean> {
  requirePermission(scope.access, 'read', baseId, recordType)
  checkSeqs(seqs)
  const parsed = parseFilter(filter, '/filter')
  const type = await requireType(scope, baseId, recordType)
  // Declared indexes cover only current records.
  const { parameters, operands } = compileFor({ baseId, type: { ...type, indexes: [] }, sort: UNSORTED })
  const states = recordsAround({
    base: parameters.add(baseId),
    recordType: parameters.add(recordType),
    seqs: parameters.add(seqs),
  })
  const { text, values } = parameters.bind(
    `SELECT EXISTS (SELECT FROM ${states} r WHERE ${compileFilter(bindFilter(parsed, type), operands)}) AS found`,
  )
  // Limit the concurrency: one write may concern subscribers of many filters.
  const [row] = await scope.longPolls.inTurn(scope.actor.tokenId ?? '', () =>
    read<{ found: boolean }>(scope, shaped(text), values),
  )
  return row?.found ?? false
}

function checkSeqs(seqs: readonly number[]): void {
  if (seqs.length <= LIMITS.matchedEntries && seqs.every((seq) => Number.isSafeInteger(seq) && seq >= 0))
    return
  throw invalid({
    path: '/seqs',
    code: 'out_of_range',
    message: `seqs must be at most ${LIMITS.matchedEntries} whole numbers from 0.`,
  })
}
