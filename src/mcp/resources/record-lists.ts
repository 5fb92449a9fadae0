import { rowsBody } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { parseJson } from '../../json/parse.ts'
import { valuesOf } from '../../json/rows.ts'
import { type ListQuery, type ResourceName, recordsUri } from '../protocol/resource-uri.ts'
import { queryOf } from './uri-query.ts'

const list =
  staticOperation(`query ResourceRecords($base: String!, $type: String!, $filter: JSON, $cursor: String, $limit: Int) {
    records(base: $base, recordType: $type, filter: $filter, cursor: $cursor, limit: $limit) {
      rows hasMore limit offset nextCursor
    }
  }`)

// Called without entries, it checks what it gets, and read access to the log: types under a row policy are readable, but
// their changes are not reported.
const findLog = staticOperation(`query ReadableLog($base: String!, $type: String!, $condition: JSON) {
  changesMatch(base: $base, recordType: $type, condition: $condition, seqs: [])
}`)

/**
 * Checks that the session may follow the changes of a record type, with a condition on changes or null.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function checkCondition(
  { base, type }: { base: string; type: string },
  condition: unknown,
  context: Context,
): Promise<void> {
  await findLog({ base, type, condition }, context)
}

type Records = Extract<ResourceName, { kind: 'records' }>

/**
 * Reads a page of the records that match, as long as its byte limit allows. `meta.next` is the URI of the
 * next page.
 */
export async function readRecordsResource(name: Records, context: Context): Promise<object> {
  const { base, type } = name
  const query = listQueryOf(name)
  const filter = filterOf(query)
  const condition = conditionOf(query)
  if (condition !== undefined) await checkCondition(name, condition, context)
  const asked = {
    ...{ base, type },
    ...(filter !== undefined && { filter }),
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  }
  const page = (await list({ ...asked, limit: LIMITS.resourceRecords }, context)).records
  const rows = valuesOf(page.rows)
  const fitting = howManyFit(rows)
  // Query again with the smaller limit, so that the list returns the right cursor.
  const shown = fitting < rows.length ? (await list({ ...asked, limit: fitting }, context)).records : page
  const body = rowsBody({ ...shown, rows: valuesOf(shown.rows) })
  if (shown.nextCursor === null) return body
  const next = recordsUri(base, type, { ...query, cursor: shown.nextCursor })
  return { ...body, meta: { ...body.meta, next } }
}

/** Number of rows within the byte limit, at least 1. */
function howManyFit(rows: readonly object[]): number {
  let bytes = 0
  const last = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row))
    return bytes > LIMITS.resourceListBytes
  })
  return last < 0 ? rows.length : Math.max(1, last)
}

const PARAMETERS = ['filter', 'condition', 'cursor']

/**
 * Parses the URI parameters of a list.
 * @throws InvalidParams for an unknown one
 */
export const listQueryOf = ({ query }: Records): ListQuery => queryOf(query, 'A list of records', PARAMETERS)

/**
 * Parses the condition on changes that subscribers of the list are notified of.
 * @throws VALIDATION_ERROR if it is not JSON
 */
export const conditionOf = ({ condition }: ListQuery): unknown =>
  condition === undefined ? undefined : parseJson(condition, '/condition', 'compared')

/**
 * Parses the filter.
 * @throws VALIDATION_ERROR if it is not JSON
 */
export const filterOf = ({ filter }: ListQuery): unknown =>
  filter === undefined ? undefined : parseJson(filter, '/filter', 'compared')
