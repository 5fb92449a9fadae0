/** What an undo may write under the policies of an endpoint: what the tools there may write. */
import { findType } from '../../core/load-type.ts'
import type { TypePolicy } from '../../core/policy.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { compileFor } from '../../records/query/compile-query.ts'
import type { BoundedType } from '../../records/query/policy-read.ts'
import { UNSORTED } from '../../records/query/sort.ts'
import { within } from '../../records/relationships/index.ts'
import { type Db, shaped, statement } from '../../storage/database/client.ts'
import type { Obstacle, Step } from './plan-steps.ts'

/** A record of a type with a policy: its hidden properties, and whether it matches the filter for writes. */
type Held = { hidden: string; fits: boolean }
type Reach = ReadonlyMap<string, Held>

const nameOf = (recordType: string | null, id: string) => `${recordType}/${id}`

/**
 * Reads what is there before the undo. The result finds, after it, the steps that wrote what is out of reach: a record
 * that does not match the filter for writes, or whose hidden properties changed, a deleted one that did not match, and
 * links of records that are neither in sight nor part of the undo.
 */
export async function openPolicyCheck(
  scope: WriteScope,
  baseId: string,
  planned: readonly Step[],
): Promise<(steps: readonly Step[]) => Promise<Obstacle[]>> {
  if (!scope.policy) return async () => []
  const before = await heldOf(scope, baseId, planned)
  const linksBefore = await linksInSight(scope, baseId, planned)
  return async (steps) => {
    const after = await heldOf(scope, baseId, steps)
    const links = await linksInSight(scope, baseId, steps)
    const isReached = ({ change: { kind, recordType, id, seq } }: Step): boolean => {
      if (kind === 'relationship') return linksBefore.has(seq) || links.has(seq)
      if (kind !== 'record' || !policyOn(scope, baseId, recordType ?? '')) return true
      const name = nameOf(recordType, id)
      const [was, is] = [before.get(name), after.get(name)]
      if (!is) return was?.fits !== false
      return is.fits && (!was || was.hidden === is.hidden)
    }
    return steps
      .filter((step) => !isReached(step))
      .map(
        ({ change }): Obstacle => ({
          change,
          code: 'refused',
          by: null,
          message: 'This address cannot write the state before it.',
        }),
      )
  }
}

async function heldOf(scope: WriteScope, baseId: string, steps: readonly Step[]): Promise<Reach> {
  const found = new Map<string, Held>()
  const records = steps.filter(({ change }) => change.kind === 'record')
  for (const [recordType, own] of Map.groupBy(records, ({ change }) => change.recordType ?? '')) {
    const policy = policyOn(scope, baseId, recordType)
    const type = policy && (await findType(scope, baseId, recordType))
    if (!policy || !type) continue
    const ids = [...new Set(own.map(({ change }) => change.id))]
    for (const { id, ...held } of await readHeld(scope.db, policy, type, ids))
      found.set(nameOf(recordType, id), held)
  }
  return found
}

async function readHeld(
  db: Db,
  { visible, writeFilter }: TypePolicy,
  type: BoundedType,
  ids: readonly string[],
): Promise<(Held & { id: string })[]> {
  const { parameters, operands } = compileFor({ baseId: type.baseId, type, sort: UNSORTED })
  const { text, values } = parameters.bind(
    `SELECT r.id, ${visible ? `(r.data - ${parameters.add(visible)}::text[])::text` : `''`} AS hidden,
       ${writeFilter ? `coalesce(${compileFilter(writeFilter, operands)}, false)` : 'true'} AS fits
     FROM plinth.record r
     WHERE r.base_id = ${parameters.add(type.baseId)} AND r.record_type = ${parameters.add(type.id)} AND r.id = ANY (${parameters.add(ids)}::text[])`,
  )
  return db.query<Held & { id: string }>(shaped(text), values)
}

const ENDS = statement(
  'undo_ends_of_links',
  `SELECT seq::float8 AS seq, data ->> 'source_record_type' AS source_type, data ->> 'source_id' AS source_id,
     data ->> 'target_record_type' AS target_type, data ->> 'target_id' AS target_id
   FROM plinth.change WHERE base_id = $1 AND seq = ANY ($2::bigint[])`,
)
type Ends = { seq: number; source_type: string; source_id: string; target_type: string; target_id: string }

/** The changes of links both of whose records are in sight, or part of the undo. */
async function linksInSight(
  scope: WriteScope,
  baseId: string,
  steps: readonly Step[],
): Promise<ReadonlySet<number>> {
  const seqs = steps.flatMap(({ change: { kind, seq } }) => (kind === 'relationship' ? [seq] : []))
  if (seqs.length === 0) return new Set()
  const rows = await scope.db.query<Ends>(ENDS, [baseId, seqs])
  const seen = new Set(steps.map(({ change: { recordType, id } }) => nameOf(recordType, id)))
  const ends = rows.flatMap((row) => [
    [row.source_type, row.source_id] as const,
    [row.target_type, row.target_id] as const,
  ])
  for (const [recordType, of] of Map.groupBy(ends, ([type]) => type)) {
    const ids = of.map(([, id]) => id)
    for (const id of await within(scope, baseId, recordType, ids)) seen.add(nameOf(recordType, id))
  }
  const isSeen = (type: string, id: string) => seen.has(nameOf(type, id))
  return new Set(
    rows
      .filter((row) => isSeen(row.source_type, row.source_id) && isSeen(row.target_type, row.target_id))
      .map(({ seq }) => seq),
  )
}
