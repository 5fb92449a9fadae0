import { LIMITS } from '../../limits.ts'
import { demand } from '../access.ts'
import { openCursor, sealCursor } from '../cursor.ts'
import { shaped } from '../db.ts'
import type { Filter } from '../filter/parse.ts'
import { type Page, type PageArgs, readPage, toPage } from '../page.ts'
import { demandType } from '../record-types/index.ts'
import type { Scope } from '../scope.ts'
import { compileFor } from './compile-for.ts'
import { demandRelationshipTypes, parseExpand } from './expand.ts'
import { adviseIndex } from './index-advice.ts'
import { countStatement, type ListQuery, listStatement } from './list-statement.ts'
import { type Projection, parseFields, project, projectData, showsData } from './projection.ts'
import { readQuestion } from './question.ts'
import { type RecordItem, type RecordRow, toRecord, toView } from './record.ts'
import type { SortTerm } from './sort.ts'

/** What is asked of a list of records. `filter` and `sort` are JSON as the caller wrote it. */
export type ListArgs = PageArgs & {
  filter?: unknown
  sort?: unknown
  fields?: readonly string[] | null | undefined
  expand?: readonly string[] | null | undefined
}

type FoundRecord = RecordItem & { searchScore: number | null }
/** A page of records, in either form: each is made when it is asked for. */
export type RecordPage = Omit<Page<FoundRecord>, 'data'> & {
  data(): FoundRecord[]
  /** The records as REST and MCP show them, narrowed to the fields that were asked for. */
  rows(): object[]
}

type Row = RecordRow & { score?: number }

/**
 * The records of a type that match, sorted, one page of them.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function listRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  args: ListArgs,
): Promise<RecordPage> {
  demand(scope.access, 'read', baseId, recordType)
  const page = readPage(args)
  const { filter, sort, projection, expand } = readArgs(args)
  const type = await demandType(scope, baseId, recordType)
  if (expand) demandRelationshipTypes(expand, new Set(), '/expand')

  const terms = sort.map(({ name, descending }) => [name, descending])
  const boundTo = [baseId, recordType, args.filter ?? null, terms, scope.access.grants]
  const position = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  const withData = projection === null || showsData(projection)
  const query: ListQuery = { ...page, baseId, recordType, type, filter, sort, position, withData }
  const compiled = compileFor(query)
  const statement = listStatement(query, compiled)
  const counting = page.includeTotal ? countStatement(query, compileFor(query)) : null

  const started = performance.now()
  const [rows, total] = await Promise.all([
    scope.db.query<Row>(shaped(statement.text), statement.values),
    counting && scope.db.query<{ total: number }>(shaped(counting.text), counting.values),
  ])
  const took = performance.now() - started
  const last = rows.length > page.limit ? rows[page.limit - 1] : undefined
  const found = toPage(rows, page, total?.[0]?.total ?? null)
  return {
    ...found,
    data: () => found.data.map((row) => asItem(recordType, row, projection)),
    rows: () => found.data.map((row) => asRow(recordType, row, projection)),
    nextCursor: last
      ? sealCursor(scope.keys.cursor, boundTo, { id: last.id, values: compiled.valuesOf(last) })
      : null,
    hint: took > LIMITS.slowListMs ? slowHint(took, filter, sort) : null,
  }
}

const readArgs = ({ fields, expand, ...question }: ListArgs) => ({
  ...readQuestion(question),
  projection: fields ? parseFields(fields, '/fields') : null,
  expand: expand ? parseExpand(expand, '/expand') : null,
})

function asRow(recordType: string, row: Row, projection: Projection | null): object {
  const view = toView(recordType, row)
  return projection ? project(view, projection) : view
}

function asItem(recordType: string, row: Row, projection: Projection | null): FoundRecord {
  const record = { ...toRecord(recordType, row), searchScore: row.score ?? null }
  if (!projection || projection.names.has('data')) return record
  return { ...record, data: projectData(record.data, projection.paths) ?? {} }
}

function slowHint(took: number, filter: Filter | null, sort: readonly SortTerm[]): string | null {
  const index = adviseIndex(filter, sort)
  if (!index) return null
  return `This list took ${Math.round(took)} ms. A declared index would serve it: add ${JSON.stringify(index)} to "indexes" of the record type.`
}
