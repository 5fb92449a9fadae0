import { z } from 'zod'
import { splitNames } from '../../contract/field-list.ts'
import { Filter, sortBody } from '../../contract/query-shapes.ts'
import { COLUMNS } from '../../contract/record-columns.ts'
import { rowsBody } from '../../contract/response-bodies.ts'
import { storedOnly } from '../../contract/source-arguments.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql, type ResultOf, type VariablesOf } from '../../graphql/document.ts'
import { compile, compileSubscription } from '../../graphql/execute.ts'
import { cellOf, columnOf, plainCell } from '../../schema-shape/csv.ts'
import { shapeOf } from '../../schema-shape/read.ts'
import { listOf } from '../route/page.ts'
import { askedIn, asOf, flag, json, names, pageOf, rowsQuery, rowsQueryBody } from '../route/query.ts'
import { route } from '../route/route.ts'
import { ALL, once, type RowsAnswer, type RowType, refuseBeside, type Table } from '../route/rows.ts'
import { baseId, onType, typeId } from '../route/shapes.ts'
import { FoundRecord } from './shapes.ts'
import { externalSource, ListedFields, nowhere, readFrom, SourceListedFields } from './sources.ts'

// Lists of records as CSV or NDJSON: a page, or all records of one snapshot.

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
async function recordRows(
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

const ListRecords = graphql(
  `query ListRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!], $include: [RecordPart!],
    $snippets: Boolean, $asOf: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean,
    $source: String!, $fromSource: Boolean!) {
    records(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, expand: $expand, include: $include, snippets: $snippets, asOf: $asOf,
      limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) @skip(if: $fromSource) { ...ListedFields }
    sourceRecords(base: $base, recordType: $recordType, source: $source, fields: $fields, limit: $limit, offset: $offset,
      includeTotal: $includeTotal) @include(if: $fromSource) { ...SourceListedFields }
  }`,
  [ListedFields, SourceListedFields],
)

const FILTER =
  '`{"field","op","value"}`, or groups of them with `and`, `or`, `not`, `some`, `none`. The field `valid` is false of records that their schema refuses.'
const FIELDS = 'Fields to return: `id`, `data.name`.'
export const EXPAND =
  'Relationship types to expand: `owner.company`, `~member` for incoming; `owner:title` for `{ id, record_type, title }` in place of the records.'
const INCLUDE = '`claim`: add the active claim of each record, or null.'
export const include = z.enum(['claim']).optional().meta({ description: INCLUDE })
const SNIPPETS =
  'Add `_snippets` to each record: what the `search` of the filter found. `limit` is then at most 100.'
const QueryBody = rowsQueryBody.extend({
  filter: Filter.optional().meta({ description: FILTER }),
  sort: sortBody('-created_at,id', '`[{"field","direction"}]`, or `"-created_at,id"`.'),
  fields: z.array(z.string()).optional().meta({ description: FIELDS }),
  expand: z.array(z.string()).optional().meta({ description: EXPAND }),
  include: z
    .array(z.enum(['claim']))
    .optional()
    .meta({ description: INCLUDE }),
  snippets: z.boolean().optional().meta({ description: SNIPPETS }),
  as_of: asOf,
  external_source: externalSource,
})

const inType = z.strictObject({ base_id: baseId(), record_type: typeId })
const need = onType('read')

/** REST routes that query many records. */
export const recordLists = [
  route('GET /:base_id/records/:record_type', {
    summary: 'List records',
    need,
    params: inType,
    query: rowsQuery.extend({
      filter: json(`A filter: ${FILTER}`),
      sort: json('`-created_at,id`, or `[{"field","direction"}]`.'),
      fields: names(FIELDS),
      expand: names(EXPAND),
      include,
      snippets: flag(SNIPPETS),
      as_of: asOf,
      external_source: externalSource,
    }),
    cuts: true,
    operation: ListRecords,
    variables: ({ params, query }) => ({
      base: params.base_id,
      recordType: params.record_type,
      ...readFrom(query.external_source, storedOnly(query), 'query/'),
      ...askedIn(query),
      expand: query.expand === undefined ? undefined : splitNames(query.expand, 'query/expand'),
      include: query.include && [query.include],
      snippets: query.snippets,
      asOf: query.as_of,
      ...pageOf(query),
    }),
    reply: ({ records, sourceRecords }) => ({ body: rowsBody(records ?? sourceRecords ?? nowhere()) }),
    rows: recordRows,
    answers: listOf(FoundRecord),
  }),
  route('POST /:base_id/records/:record_type/query', {
    summary: 'Query records: like the list, with the query in the body',
    need,
    params: inType,
    body: QueryBody,
    cuts: true,
    operation: ListRecords,
    variables: ({ params, body }) => ({
      base: params.base_id,
      recordType: params.record_type,
      ...readFrom(body.external_source, storedOnly(body), '/'),
      filter: body.filter,
      sort: body.sort,
      fields: body.fields,
      expand: body.expand,
      include: body.include,
      snippets: body.snippets,
      asOf: body.as_of,
      limit: body.limit,
      offset: body.offset,
      cursor: body.cursor,
      includeTotal: body.include_total,
    }),
    reply: ({ records, sourceRecords }) => ({ body: rowsBody(records ?? sourceRecords ?? nowhere()) }),
    rows: recordRows,
    answers: listOf(FoundRecord),
  }),
]
