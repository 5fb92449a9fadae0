/** Finds the groups of changes in a range of the log. */

import { LIMITS } from '../../../foundation/limits.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { AUTHOR, type AuthorRow } from '../../log/entry.ts'
import type { ChangeFilter } from '../../log/filter.ts'
import { newestOf, type SeqRange, withinSeqs } from '../../log/ranges.ts'
import { narrowing, type Patience, type Reader } from '../../log/read.ts'
import type { PackedCall } from '../../log/tool-call.ts'
import { visibleTo } from '../../log/visibility.ts'
import { shaped } from '../../storage/database/client.ts'

/** Who made the entries of a group, and the newest of them in the range. */
export type GroupKey = AuthorRow & {
  request_id: string
  call: PackedCall | null
  last: number
}
const KEY = `request_id, ${AUTHOR}, call`

/** Conditions on the entries `c`, and the values that they bind from `first` on. */
export type Conditions = (first: number) => { text: string; values: unknown[] }

/** The conditions of a reader's filter and rights. */
export function conditionsFor(reader: Reader, baseId: string): Conditions {
  return (first) => {
    const values: unknown[] = []
    const bind = (value: unknown) => `$${first - 1 + values.push(value)}`
    const types = reader.access.types('read', baseId)
    const visible = types === '*' ? [] : [visibleTo(bind([...types]))]
    const text = [...narrowing(reader, baseId, bind), ...visible].map((each) => ` AND ${each}`).join('')
    return { text, values }
  }
}

/**
 * The newest groups of a range, at most `most`, and the part of the range that was not looked at. Reads a few
 * entries first, and then as many as the groups found so far let expect. While nothing is found, it goes on.
 */
export async function findGroups(
  scope: Scope,
  baseId: string,
  { filter }: Reader,
  conditions: Conditions,
  range: SeqRange,
  most: number,
  patience: Patience,
): Promise<{ keys: GroupKey[]; left: SeqRange }> {
  const found = new Map<string, GroupKey>()
  let left = range
  let scanned = 0
  let size: number = LIMITS.groupedFirst
  for (;;) {
    const step = await newestOf(scope.db, baseId, left, filter.requestId, size)
    const { rows, isCut } = await groupsIn(scope, baseId, filter, conditions, step, most)
    for (const row of rows) {
      const { last: _, ...key } = row
      const name = JSON.stringify(key)
      if (!found.has(name)) found.set(name, row)
    }
    left = { after: left.after, upTo: isCut ? (rows.at(-1)?.last ?? step.upTo) - 1 : step.after }
    scanned += size
    const enough = found.size > 0 ? LIMITS.feedReach : patience.entries
    if (isCut || found.size >= most || left.after >= left.upTo || scanned >= enough) break
    if (patience.isOver?.()) break
    const expected = found.size > 0 ? (scanned / found.size) * (most - found.size) * SPARE : size * GROWTH
    const room = found.size > 0 ? LIMITS.feedReach - scanned : LIMITS.feedLongReach
    size = Math.ceil(Math.min(Math.max(expected, LIMITS.groupedFirst), room))
  }
  return { keys: [...found.values()].slice(0, most), left }
}

/** How much the estimate of a step adds, and how steps grow without one. */
const SPARE = 1.3
const GROWTH = 8

/** The groups of a range, newest first. */
async function groupsIn(
  scope: Scope,
  baseId: string,
  filter: ChangeFilter,
  conditions: Conditions,
  { after, upTo }: SeqRange,
  limit: number,
) {
  const asked: unknown[] = [baseId, after, upTo, limit]
  const within = withinSeqs(filter, (value) => `$${asked.push(value)}`)
  const { text, values } = conditions(asked.length + 1)
  const statement = shaped(
    `SELECT ${KEY}, max(seq)::float8 AS last FROM plinth.change c
     WHERE base_id = $1 AND ${within}${text}
     GROUP BY ${KEY} ORDER BY last DESC LIMIT $4`,
  )
  return readPageRows<GroupKey>(scope, statement, [...asked, ...values], { atLeast: 1 })
}
