import type { Db } from '../database/client.ts'
import type { Duplicate } from '../indexes/declared.ts'
import { MOST_DUPLICATES, VALUES_OF } from './index-build-statements.ts'

/** A record that a unique index has no entry of, and the one that has its values. */
export type Refused = { id: string; holder: string }

const MOST_CHARS = 200

/** The groups found so far, with more refused records in them: ten groups at most, of ten records at most each. */
export async function gather(
  db: Db,
  key: readonly [base: string, type: string, index: string],
  known: readonly Duplicate[],
  refused: readonly Refused[],
): Promise<Duplicate[]> {
  const groups = new Map(known.map((group) => [group.ids[0], { ...group, ids: [...group.ids] }]))
  for (const { id, holder } of refused) {
    const group = groups.get(holder) ?? { values: [], ids: [holder] }
    if (!groups.has(holder) && groups.size === MOST_DUPLICATES) continue
    if (group.ids.length < MOST_DUPLICATES && !group.ids.includes(id)) group.ids.push(id)
    groups.set(holder, group)
  }
  const holders = [...groups.values()].filter(({ values }) => values.length === 0).map(({ ids }) => ids[0])
  const found = await db.query<{ id: string; values: unknown[] }>(VALUES_OF, [...key, holders])
  for (const { id, values } of found) {
    const group = groups.get(id)
    if (group) group.values = values.map(shortened)
  }
  return [...groups.values()]
}

/** A value that is long is shown by its beginning. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : value
}
