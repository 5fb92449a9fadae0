/** Whole results: all matching records of one snapshot, as the reader takes them. */
import { LIMITS } from '../../foundation/limits.ts'
import type { JsonRows } from '../../json/rows.ts'
import { authorize } from '../core/row-policy/apply.ts'
import type { Scope } from '../core/scope.ts'
import { subscriberOf } from '../log/stream-limits.ts'
import { shaped } from '../storage/database/client.ts'
import type { Snapshot } from '../storage/database/snapshots.ts'
import { type Columns, columnsOf, withOthers } from './columns.ts'
import { asRows, type ListArgs, type ListedRow, type Question, readList } from './list.ts'
import { compileFor } from './query/compile-query.ts'
import { listStatement } from './query/list-statement.ts'
import { requireCompleteHistory } from './query/point-in-time.ts'
import { linkedCandidates } from './related/linked-candidates.ts'

/** Arguments of a list of all records that match. */
export type WholeArgs = Pick<ListArgs, 'filter' | 'sort' | 'fields' | 'asOf'> & {
  /** Whether the first rows tell the columns of a table. This reads the records once more. */
  withColumns?: boolean | null | undefined
}

/** Some rows of a whole result, in the format of REST, and with the first of them the columns. */
export type WholeRows = { columns: Columns | null; rows: JsonRows | object[] }

/**
 * All matching records of a type, of one snapshot, as the reader takes them. It fails if the rights of the token change.
 * @throws as `listRecords`, before the first rows; RATE_LIMITED above the limit of the token or the process
 */
export async function streamRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  { withColumns, ...args }: WholeArgs,
): Promise<AsyncGenerator<WholeRows>> {
  const policy = authorize(scope, 'read', baseId, recordType)
  const question = await readList(scope, policy, baseId, recordType, { ...args, limit: LIMITS.pageMax })
  return rowsOf(scope, question, withColumns ?? false)
}

async function* rowsOf(scope: Scope, question: Question, withColumns: boolean): AsyncGenerator<WholeRows> {
  const { asks, projection, moment } = question
  const { baseId, recordType } = asks
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  let snapshot: Snapshot | undefined
  try {
    snapshot = await scope.snapshots.open(scope.actor.tokenId ?? '')
    const within = { ...scope, db: snapshot.db }
    const candidates = await linkedCandidates(within, question.filter)
    if (moment) await requireCompleteHistory(within, baseId, moment)
    const all = { limit: Number.POSITIVE_INFINITY, offset: 0, includeTotal: false, position: null }
    const query = { ...all, ...asks, candidates }
    const compiled = compileFor(query)
    const { text, values } = listStatement(query, compiled)
    let columns = withColumns ? columnsOf(question) : null
    if (columns?.isOpen) columns = await withOthers(within, columns, query)
    if (columns && compiled.score() !== null) columns.fields.push('_search_score')
    const statement = shaped(text, { jsonAsText: true })
    for await (const { rows } of snapshot.rows<ListedRow>(statement, values, slot.signal)) {
      yield { columns, rows: await asRows(recordType, rows, projection, [], null) }
      columns = null
    }
  } finally {
    snapshot?.close()
    slot.end()
  }
}
