/** Lists of records as CSV or NDJSON: a page, or all records of one snapshot. */
import { COLUMNS } from '../../contract/record-columns.ts'
import { rowsBody } from '../../contract/response-bodies.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql, type ResultOf, type VariablesOf } from '../../graphql/document.ts'
import { compile, compileSubscription } from '../../graphql/execute.ts'
import { cellOf, columnOf, plainCell } from '../../schema-shape/csv.ts'
import { shapeOf } from '../../schema-shape/read.ts'
import { ALL, once, type RowsAnswer, type RowType, refuseBeside, type Table } from '../route/rows.ts'
import { ListedFields, nowhere, SourceListedFields } from './sources.ts'

const Columns = graphql('fragment Columns on RecordColumns { fields properties jsonSchema }')
const ListTable = graphql(
  `query ListTable($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!], $include: [RecordPart!],
      $snippets: Boolean, $asOf: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean,
      $source: String!, $fromSource: Boolean!) {
      records(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, expand: $expand, include: $include, snippets: $snippets, asOf: $asOf,
        limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) @skip(if: $fromSource) { ...ListedFields columns { ...Columns } }
      sourceRecords(base: $base, recordType: $recordType, source: $source, fields: $fields, limit: $limit, offset: $offset,
        includeTotal: $includeTotal) @include(if: $fromSource) { ...SourceListedFields }
    }`,
  [ListedFields, SourceListedFields, Columns],
)
const listTable = compile(ListTable)
const streamRecords = compileSubscription(
  graphql(
    `subscription StreamRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!],
      $asOf: String, $withColumns: Boolean) {
      recordRows(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, asOf: $asOf,
        withColumns: $withColumns) { rows columns { ...Columns } }
    }`,
    [Columns],
  ),
)

/** The records of a list in another format. @throws as the list */
export async function recordRows(
  variables: VariablesOf<typeof ListTable>,
  context: Context,
  type: RowType,
): Promise<RowsAnswer> {
  if (variables.limit !== ALL) {
    const { records, sourceRecords } = await listTable(variables, context)
    const { data: rows, meta } = rowsBody(records ?? sourceRecords ?? nowhere())
    const table = (found: readonly Row[]) => tableOf(records?.columns ?? ANY_COLUMNS, found)
    return { chunks: once({ rows, table }), meta }
  }
  const { base, recordType, filter, sort, fields, asOf } = variables
  const {
    expand,
    include,
    snippets,
    offset,
    cursor,
    includeTotal: include_total,
    source,
    fromSource,
  } = variables
  const external_source = fromSource ? source : undefined
  refuseBeside({ expand, include, snippets, offset, cursor, include_total, external_source })
  const asked = {
    base,
    recordType,
    withColumns: type === 'text/csv',
    ...omitUndefined({ filter, sort, fields, asOf }),
  }
  return { chunks: chunksOf(await streamRecords(asked, context)) }
}

type Row = Readonly<Record<string, unknown>>
type Chunk = { recordRows: { rows: unknown; columns: ResultOf<typeof Columns> | null } }

async function* chunksOf(chunks: AsyncIterableIterator<Chunk>) {
  for await (const { recordRows } of chunks) {
    const { rows, columns } = recordRows
    yield { rows, table: () => tableOf(columns ?? ANY_COLUMNS, []) }
  }
}

const ANY_COLUMNS = { fields: [...COLUMNS], properties: [], jsonSchema: {} }

/** A column for each field of a record and for each property, also for those that only the rows name. */
function tableOf({ fields, properties, jsonSchema }: ResultOf<typeof Columns>, rows: readonly Row[]): Table {
  const shape = shapeOf(jsonSchema)
  const own = new Set(fields)
  const named = new Set(properties)
  for (const row of rows) {
    for (const name in row) if (name.startsWith('_')) own.add(name)
    for (const name in row['data'] ?? {}) named.add(name)
  }
  const [ownNames, names] = [[...own], [...named]]
  return {
    columns: [...ownNames, ...names.map(columnOf)],
    cells: (row) => {
      const data = (row['data'] ?? {}) as Row
      const ofData = names.map((name) =>
        cellOf(Object.hasOwn(data, name) ? data[name] : undefined, name, shape),
      )
      return [...ownNames.map((name) => plainCell(row[name])), ...ofData]
    },
  }
}
