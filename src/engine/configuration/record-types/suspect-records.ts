/** Finds the records that changed schemas may no longer accept, of all types in one scan. */
import { read, type Scope } from '../../core/scope.ts'
import type { Statement } from '../../database/client.ts'
import type { AffectedRecords } from './affected-records.ts'
import { breakingCondition, type ChangedProperties, satisfies } from './breaking-condition.ts'
import { type Bind, byOperators, isUnpacked, lengthsBroken } from './operator-condition.ts'

/** Ids to keep. The types with the fewest suspects come first. */
const MOST = 10_000
/** Parts of rules that a statement has room for: PostgreSQL takes 40 KB for a rule with all parts. */
const MOST_PARTS = 3000

// Without a name it is planned for its values: what part of the table the types are decides between their index and a
// scan by parallel workers. The planner expects few rows of an equality, so that the workers pay.
const suspectsBy = (condition: string): Statement => ({
  name: '',
  text: `WITH suspect AS MATERIALIZED (
     SELECT r.record_type, r.id FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = ANY ($2::text[]) AND (NOT r.valid OR ${condition})::int = 1),
   counted AS (
     SELECT record_type, sum(count(*)) OVER (ORDER BY count(*), record_type) AS so_far FROM suspect GROUP BY record_type)
   SELECT c.record_type AS type, array_agg(s.id) FILTER (WHERE s.id IS NOT NULL) AS ids
   FROM counted c LEFT JOIN suspect s ON s.record_type = c.record_type AND c.so_far <= $3 GROUP BY c.record_type`,
})

type Row = { type: string; ids: string[] | null }

/** Ids by type. A type that is absent has no suspects; null: it has too many to list. */
export type Suspects = ReadonlyMap<string, readonly string[] | null>

/** Finds the suspects of types whose affected records are described. */
export async function suspectsOf(
  scope: Scope,
  baseId: string,
  types: readonly { readonly id: string; readonly affected: AffectedRecords }[],
): Promise<Suspects> {
  const suspects = new Map<string, readonly string[] | null>()
  let most = MOST
  for (const changes of inStatements(types)) {
    const ids = idsOf(changes)
    if (partsOf(changes) > MOST_PARTS) {
      for (const id of ids) suspects.set(id, null)
      continue
    }
    const values: unknown[] = [baseId, ids, most]
    const condition = conditionOf(changes, (value, type) => `$${values.push(value)}::${type}`)
    for (const { type, ids: found } of await read<Row>(scope, suspectsBy(condition), values)) {
      suspects.set(type, found)
      most -= found?.length ?? 0
    }
  }
  return suspects
}

/** A change, and the types that change in this way. */
type SharedChange = { readonly change: ChangedProperties; readonly ids: string[] }

const idsOf = (changes: readonly SharedChange[]) => changes.flatMap(({ ids }) => ids)
const partsOf = (changes: readonly SharedChange[]) =>
  changes.flatMap(({ change }) => change.rules).reduce((sum, rule) => sum + Object.keys(rule).length, 0)

/** The different changes, as many in a list as a statement has room for. One that is too large is alone. */
function inStatements(
  types: readonly { readonly id: string; readonly affected: AffectedRecords }[],
): SharedChange[][] {
  const shared = new Map<string, SharedChange>()
  for (const { id, affected } of types) {
    if (typeof affected === 'string') continue
    const text = JSON.stringify(affected)
    const same = shared.get(text)
    if (same) same.ids.push(id)
    else shared.set(text, { change: affected, ids: [id] })
  }
  const lists: SharedChange[][] = []
  let room = 0
  for (const one of shared.values()) {
    const parts = partsOf([one])
    const last = lists.at(-1)
    if (last && parts <= room) last.push(one)
    else {
      lists.push([one])
      room = MOST_PARTS
    }
    room -= parts
  }
  return lists
}

/** The condition of the change of the type, which is found in halves. */
function conditionOf(changes: readonly SharedChange[], bind: Bind): string {
  const [first, ...more] = changes
  if (!first) return 'false'
  if (more.length === 0) return breaks(first.change, bind)
  const half = Math.ceil(changes.length / 2)
  const [some, others] = [changes.slice(0, half), changes.slice(half)]
  return `CASE WHEN r.record_type = ANY (${bind(idsOf(some), 'text[]')})
     THEN ${conditionOf(some, bind)} ELSE ${conditionOf(others, bind)} END`
}

/** Each operator unpacks a document, a path unpacks it once. */
function breaks(change: ChangedProperties, bind: Bind): string {
  const operators = byOperators(change, 'r.data', bind)
  if (!operators) return 'false'
  const path = bind(breakingCondition(change).path, 'jsonpath')
  const ofPacked = [satisfies('r.data', path), ...lengthsBroken(change, 'r.data', bind)]
  return `CASE WHEN ${isUnpacked('r.data')} THEN ${operators} ELSE ${ofPacked.join(' OR ')} END`
}
