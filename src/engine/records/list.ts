import { demand } from '../access.ts'
import { compileFilter, Parameters } from '../filter/compile.ts'
import { parseFilter } from '../filter/parse.ts'
import { type Page, type PageArgs, readPage, toPage } from '../page.ts'
import { demandType } from '../record-types/index.ts'
import type { Scope } from '../scope.ts'
import { RECORD_COLUMNS, type RecordItem, type RecordRow, toRecord } from './record.ts'
import { compileSort, parseSort } from './sort.ts'

export type ListArgs = PageArgs & { filter?: unknown; sort?: unknown }

/** The records of a type that match, sorted, one page of them. */
export async function listRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  args: ListArgs,
): Promise<Page<RecordItem>> {
  demand(scope.access, 'read', baseId, recordType)
  const page = readPage(args)
  const sort = parseSort(args.sort, '/sort')
  const filter =
    args.filter === undefined || args.filter === null ? null : parseFilter(args.filter, '/filter')
  const type = await demandType(scope, baseId, recordType)

  const parameters = new Parameters()
  const scoped = `base_id = ${parameters.add(baseId)} AND record_type = ${parameters.add(recordType)}`
  const where = filter ? `${scoped} AND ${compileFilter(filter, type, parameters)}` : scoped
  const count = page.includeTotal
    ? scope.db.query<{ total: number }>(
        { name: '', text: `SELECT count(*)::float8 AS total FROM plinth.record WHERE ${where}` },
        [...parameters.values],
      )
    : null
  const limit = `LIMIT ${parameters.add(page.limit + 1)}::int OFFSET ${parameters.add(page.offset)}::bigint`
  const text = `SELECT ${RECORD_COLUMNS} FROM plinth.record WHERE ${where} ORDER BY ${compileSort(sort)} ${limit}`
  // Without a filter there are few texts, so they are prepared; with one they are as many as filters.
  const name = filter
    ? ''
    : `list_${sort.map(({ column, descending }) => `${descending ? '-' : ''}${column}`).join()}`.slice(0, 60)
  const [rows, total] = await Promise.all([
    scope.db.query<RecordRow>({ name, text }, parameters.values),
    count,
  ])
  return toPage(
    rows.map((row) => toRecord(recordType, row)),
    page,
    total?.[0]?.total ?? null,
  )
}
