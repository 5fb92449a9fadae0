/** Checks the records of a type against a schema ahead of the change, while others write. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../database/client.ts'
import { recordsNamed, recordsOf } from './existing-records.ts'
import { openJudgement, recordsRefused } from './judge.ts'
import { suspectsOf } from './suspects.ts'

/** What a check without a lock found: records that need another flag, and since when records may have changed. */
export type Survey = { readonly since: number; readonly flags: ReadonlyMap<string, boolean> }

type Type = { readonly baseId: string; readonly id: string; readonly jsonSchema: object }

/** Rounds over what others have written meanwhile, and how few records end them. */
const ROUNDS = 4
const FEW = 200

/**
 * Checks all records. Then only those that are written until the change is made remain to be checked, under its
 * lock. Returns undefined if too many records need another flag: the change then checks them all.
 * @throws CONFLICT with the count of invalid records and ten samples
 */
export async function surveyRecords(
  scope: Scope,
  current: Type,
  jsonSchema: object,
): Promise<Survey | undefined> {
  const judge = openJudgement({ jsonSchema, steps: [] })
  const flags = new Map<string, boolean>()
  let since = await scope.feed.settledSeq()
  const note = async (pages: AsyncIterable<Parameters<typeof judge.page>[0]>) => {
    for await (const rows of pages)
      for (const { row, isValid } of await judge.page(rows)) {
        flags.delete(row.id)
        if (row.valid !== isValid) flags.set(row.id, isValid)
        if (flags.size > LIMITS.surveyedFlags) return false
      }
    return true
  }
  if (!(await note(recordsOf(scope, current, suspectsOf(current.jsonSchema, jsonSchema))))) return undefined
  if (judge.refused.count > 0) throw recordsRefused(judge.refused, 'refuse')
  for (let round = 0; round < ROUNDS; round++) {
    const next = await scope.feed.settledSeq()
    const ids = await writtenSince(scope, current, since)
    if (!(await note(recordsNamed(scope, current, ids)))) return undefined
    if (judge.refused.count > 0) throw recordsRefused(judge.refused, 'refuse')
    since = next
    if (ids.length <= FEW) break
  }
  return { since, flags }
}

// The sort and OFFSET keep the planner on the key of the log.
const WRITTEN = statement(
  'written_since',
  `SELECT DISTINCT c.id FROM (
     SELECT kind, record_type, id FROM plinth.change WHERE base_id = $1 AND seq > $2 ORDER BY seq OFFSET 0) c
   WHERE c.kind = 'record' AND c.record_type = $3`,
)

/** Ids of records that were written after an entry of the log. */
export async function writtenSince(
  scope: Scope,
  { baseId, id }: Pick<Type, 'baseId' | 'id'>,
  since: number,
): Promise<string[]> {
  const rows = await scope.db.query<{ id: string }>(WRITTEN, [baseId, since, id])
  return rows.map((row) => row.id)
}
