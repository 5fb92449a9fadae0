/**
 * Finds the records that conditions on linked records can match from the far end, where the far records are found by
 * id or index and have few links: the tickets of one customer are read from its links, not by a test of each ticket.
 */

import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import { usesSearch } from '../../data/filter/compile.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import type { BoundFilter, Linked, LinkedEnd } from '../../data/filter/syntax-tree.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import { chooseAccessPath, conjunctsOf } from '../query/access-path.ts'
import { entryConditions } from '../query/index-scan.ts'
import { UNSORTED } from '../query/sort.ts'

/**
 * The row numbers of a superset of the records that match, also of other types; null if they may be many, or no condition leads to them.
 * The whole filter is still to be tested on each.
 */
export async function linkedCandidates(
  scope: Scope,
  filter: BoundFilter | null,
): Promise<readonly string[] | null> {
  // A row policy hides records, whose number the time would tell. The score of a search follows from how it is read.
  if (scope.policy || filter === null || usesSearch(filter)) return null
  for (const each of conjunctsOf(filter)) {
    if (each.kind !== 'linked') continue
    const rows = await rowsLinked(scope, each)
    if (rows) return rows
  }
  return null
}

type Found = { most: number; rows: string[] | null }

async function rowsLinked(scope: Scope, linked: Linked): Promise<readonly string[] | null> {
  const parameters = new Parameters()
  const steps: string[] = []
  if (!addLinks(linked, parameters, steps)) return null
  const named = steps.map((step, n) => `s${n} AS MATERIALIZED (${step} LIMIT ${LIMITS.linkedCandidates + 1})`)
  const counts = steps.map((_, n) => `(SELECT count(*) FROM s${n})`)
  const { text, values } = parameters.bind(
    `WITH ${named.join(', ')} SELECT greatest(${counts.join(', ')})::int AS most,
       (SELECT array_agg(DISTINCT row_no::text) FROM s${steps.length - 1}) AS rows`,
  )
  const [found] = await read<Found>(scope, lagging(shaped(text)), values)
  return found && found.most <= LIMITS.linkedCandidates ? (found.rows ?? []) : null
}

/** Adds the steps to the near ends of the links: the far records first. False if the far records may be many. */
function addLinks({ relType, incoming, of, end }: Linked, parameters: Parameters, steps: string[]): boolean {
  if (!end || end.recordType === null || of === null) return false
  if (!addFar(end, of as BoundFilter, parameters, steps)) return false
  const [near, far] = incoming ? ['target', 'source'] : ['source', 'target']
  const before = `s${steps.length - 1}`
  const conditions = `${far}_row = f.row_no AND rel_type = ${parameters.add(relType)}`
  // Nothing is read after a step with too many rows. The limit forces a look-up by index for each far record.
  steps.push(
    `SELECT l.row_no FROM (SELECT row_no FROM ${before} WHERE (SELECT count(*) FROM ${before}) <= ${LIMITS.linkedCandidates}) f,
       LATERAL (SELECT ${near}_row AS row_no FROM plinth.relationship WHERE ${conditions} LIMIT ${LIMITS.linkedCandidates + 1}) l`,
  )
  return true
}

/** Adds the step to the far records, or to a superset of them. */
function addFar(end: LinkedEnd, of: BoundFilter, parameters: Parameters, steps: string[]): boolean {
  const { baseId, recordType, type } = end
  const conjuncts = conjunctsOf(of)
  for (const each of conjuncts) {
    if (each.kind !== 'condition' || each.field.kind !== 'column' || each.field.column !== 'id') continue
    if (each.op !== 'eq' && each.op !== 'in') continue
    const named = each.op === 'in' ? (each.value as unknown[]) : [each.value]
    if (!named.every((id) => typeof id === 'string')) continue
    const ids = parameters.add(named)
    const [base, ofType] = [parameters.add(baseId), parameters.add(recordType)]
    steps.push(
      `SELECT r.row_no FROM unnest(${ids}::text[]) i (id), LATERAL (SELECT row_no FROM plinth.record
         WHERE base_id = ${base} AND record_type = ${ofType} AND id = i.id LIMIT 1) r`,
    )
    return true
  }
  const path = chooseAccessPath(type.indexes, of, UNSORTED)
  if (path && path.fixed.length + path.range.length > 0) {
    steps.push(
      `SELECT i.row_no FROM plinth.record_index i WHERE ${entryConditions(path, baseId, parameters)}`,
    )
    return true
  }
  return conjuncts.some((each) => each.kind === 'linked' && addLinks(each, parameters, steps))
}
