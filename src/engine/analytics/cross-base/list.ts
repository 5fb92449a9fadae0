/** Federated list: one page of records over several bases. */
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { read, readPageRows, type Scope } from '../../core/scope.ts'
import { type RecordRow, toView } from '../../data/ledger/record.ts'
import { readQuestion } from '../../records/query/compile-query.ts'
import { type Projection, parseFields, project } from '../../records/query/projection.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import { findBases, namedBases, requireAccount } from './bases.ts'
import { type CrossQuery, crossCountStatement, crossListStatement, mergeForList } from './list-statement.ts'
import { type NamedPath, openTypes, pathsOf, sharedTypes } from './types.ts'

/** Arguments of a list across bases. `filter` and `sort` are unvalidated JSON. */
export type CrossListArgs = PageArgs & {
  account: string
  bases: readonly string[]
  recordType: string
  filter?: unknown
  sort?: unknown
  fields?: readonly string[] | null | undefined
}

type Row = RecordRow & { base_id: string; score: number | null }

/**
 * Lists the matching records of a type over several bases in one sort order, in the REST format with
 * `base_id`.
 * @throws FORBIDDEN for a named base that the token may not read; NOT_FOUND for a named base or account that
 * does not exist; VALIDATION_ERROR naming the argument
 */
export async function listAcrossBases(scope: Scope, args: CrossListArgs): Promise<Page<object>> {
  const { account, recordType } = args
  const named = namedBases(scope, args.bases, recordType)
  requireAccount(account)
  const page = readPage(args)
  const { filter, sort, projection } = readArgs(args)
  const types = await sharedTypes(scope, await findBases(scope, named, recordType), recordType)

  const sortPaths = sort.flatMap(({ field, at }): NamedPath[] =>
    field.kind === 'data' ? [{ path: field.path, at }] : [],
  )
  const whole: CrossQuery = {
    ...page,
    recordType,
    filter,
    sort,
    types: openTypes(types, [...pathsOf(filter), ...sortPaths]),
  }
  const query = { ...whole, types: mergeForList(whole) }
  const statement = crossListStatement(query)
  const counting = page.includeTotal ? crossCountStatement(query) : null
  const [{ rows, isCut }, total] = await Promise.all([
    readPageRows<Row>(scope, lagging(shaped(statement.text)), statement.values),
    counting && read<{ total: number }>(scope, lagging(shaped(counting.text)), counting.values),
  ])
  return toPage(
    rows.map((row) => show(recordType, row, projection)),
    page,
    total?.[0]?.total ?? null,
    isCut,
  )
}

const readArgs = ({ fields, ...question }: CrossListArgs) => ({
  ...readQuestion(question),
  projection: fields ? readFields(fields) : null,
})

/** Parses the projection; `base_id` is always included. */
function readFields(fields: readonly string[]): Projection {
  const others = fields.filter((name) => name !== 'base_id')
  if (others.length === 0 && fields.length > 0) return { names: new Set(), paths: [] }
  return parseFields(others, '/fields')
}

function show(recordType: string, { base_id, score, ...row }: Row, projection: Projection | null): object {
  const view = toView(recordType, score === null ? row : { ...row, score })
  return { base_id, ...(projection ? project(view, projection) : view) }
}
