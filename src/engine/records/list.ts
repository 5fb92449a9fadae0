import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { JsonRows } from '../../json/rows.ts'
import { requireType } from '../configuration/record-types/index.ts'
import { refusePast } from '../core/change-set/change-set-scope.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import type { TypePolicy } from '../core/policy.ts'
import { authorize, filterWithPolicy, refuseWithPolicy, visibleType } from '../core/row-policy/apply.ts'
import { read, readPageRows, type Scope } from '../core/scope.ts'
import { bindSort } from '../data/filter/check-fields.ts'
import type { Condition } from '../data/filter/syntax-tree.ts'
import { adviseNames, adviseValues } from '../data/filter/unsatisfiable-conditions.ts'
import { type Expansion, expandsPast, parseExpand } from '../data/ledger/expansion.ts'
import { type RecordItem, type RecordRow, toRecord, toView, toViewText } from '../data/ledger/record.ts'
import type { Snippet } from '../data/search/snippets.ts'
import { lagging, shaped } from '../storage/database/client.ts'
import { activeClaimsOf, claimView } from './claims/index.ts'
import { type Columns, columnsOf } from './columns.ts'
import { withCheckedHints } from './query/check-hints.ts'
import { compileFor, readQuestion } from './query/compile-query.ts'
import { type Advice, adviseIndex } from './query/index-advice.ts'
import { countStatement, type ListQuery, listStatement } from './query/list-statement.ts'
import { readMoment, requireCompleteHistory } from './query/point-in-time.ts'
import {
  checkProjectable,
  type Projection,
  parseFields,
  project,
  projectData,
  showsData,
} from './query/projection.ts'
import { readSnippets, snippetsOf } from './query/snippets.ts'
import { adviseExpansion } from './related/direction-advice.ts'
import { expandRecords } from './related/expand.ts'
import { linkedCandidates } from './related/linked-candidates.ts'
import { withLinkedEnds } from './related/linked-conditions.ts'

/** Arguments of a list of records. `filter` and `sort` are JSON as sent. */
export type ListArgs = PageArgs & {
  filter?: unknown
  sort?: unknown
  fields?: readonly string[] | null | undefined
  expand?: readonly string[] | null | undefined
  /** Whether each record shows what a search of the filter found in it. */
  snippets?: boolean | null | undefined
  /** What each record shows beside its fields. */
  include?: Include
  /** Point in time of the read. */
  asOf?: string | null | undefined
}

/** A page of records in two formats. Each is created lazily. */
export type RecordPage = Omit<Page<RecordItem>, 'data'> & {
  data(): RecordItem[]
  /** The records in the format of REST and MCP, projected to the requested fields. */
  rows(): JsonRows | Promise<object[]>
  columns(): Columns
  isEmpty: boolean
}

/** Parts of a record that a read shows on request. */
export type Include = readonly 'claim'[] | null | undefined

type Row = ListedRow & { total?: number }

/**
 * Lists a page of the matching records of a type, sorted.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base
 * or type
 */
export async function listRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  args: ListArgs,
): Promise<RecordPage> {
  const policy = authorize(scope, 'read', baseId, recordType)
  const page = readPage(args)
  const question = await readList(scope, policy, baseId, recordType, { ...args, limit: page.limit })
  const { type, filter, sort, projection, expand, searches, moment } = question
  const showsClaims = args.include?.includes('claim') ?? false

  const terms = sort.map(({ name, descending }) => [name, descending])
  // The cursor keeps the time that an age meant for the first page.
  const isAge = moment !== null && moment.text !== args.asOf
  const boundTo = [
    baseId,
    recordType,
    args.filter ?? null,
    terms,
    isAge ? args.asOf : moment,
    scope.access.grants,
  ]
  if (policy) boundTo.push(scope.policy?.name ?? '')
  const position = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  if (isAge && position) moment.text = String(position.values.at(-1))
  const started = performance.now()
  const candidates = await linkedCandidates(scope, filter)
  const query = { ...page, ...question.asks, candidates, position }
  const compiled = compileFor(query)
  const statement = listStatement(query, compiled)
  const { rows, isCut } = await readPageRows<Row>(
    scope,
    lagging(shaped(statement.text, { jsonAsText: true })),
    statement.values,
    // Reserve half of the byte limit for the expansion.
    expand ? { part: 0.5 } : {},
  )
  const total = page.includeTotal ? (rows[0]?.total ?? (await countAll(scope, query))) : null
  const took = performance.now() - started
  if (moment) await requireCompleteHistory(scope, baseId, moment)
  const slow = took > LIMITS.slowListMs && !moment ? { took, advice: adviseIndex(query) } : null
  if (slow) noteSlow(scope, query, slow)
  const found = toPage(rows, page, total, isCut)
  const positionOf = (row: Row) => ({
    id: row.id,
    values: [...compiled.valuesOf(row), ...(isAge ? [moment.text] : [])],
  })
  const ids = found.data.map(({ id }) => id)
  const expansions = expand ? await expandRecords(scope, { baseId, recordType }, expand, ids) : []
  const claims = showsClaims ? await activeClaimsOf(scope, baseId, recordType, ids) : null
  if (searches) found.data = await withSnippets(scope, found.data, searches)
  return {
    ...found,
    isEmpty: rows.length === 0,
    columns: () => columnsOf(question),
    data: () =>
      found.data.map((row, i) => ({
        ...asItem(recordType, row, projection, expansions[i]),
        ...(claims && { claim: claims.get(row.id) ?? null }),
      })),
    rows: () => asRows(recordType, found.data, projection, expansions, claims),
    ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf),
    hint:
      adviseValues(filter, type) ??
      (rows.length === 0 ? adviseNames(filter, type) : null) ??
      (expand
        ? await adviseExpansion(
            scope,
            baseId,
            recordType,
            expand.flatMap((path) => path.slice(0, 1)),
          )
        : null) ??
      // This hint could reveal hidden fields, so omit it under a policy.
      (slow && !policy ? slowHint(slow) : null),
  }
}

export type Question = Awaited<ReturnType<typeof readList>>

/**
 * Checks what a list asks for.
 * @throws VALIDATION_ERROR with the argument at fault; NOT_FOUND without base or type
 */
export async function readList(
  scope: Scope,
  policy: ReturnType<typeof authorize>,
  baseId: string,
  recordType: string,
  { limit, ...args }: Omit<ListArgs, 'limit'> & { limit: number },
) {
  const typeOf = async () => visibleType(policy, await requireType(scope, baseId, recordType))
  const {
    filter: asked,
    sort: order,
    projection,
    expand,
  } = await withCheckedHints(
    { scope, baseId, recordType },
    async () => {
      const read = readArgs(args)
      const isPast = args.asOf != null
      return { ...read, filter: await withLinkedEnds(scope, baseId, recordType, read.filter, isPast) }
    },
    typeOf,
  )
  const searches = args.snippets ? readSnippets(asked, limit) : null
  if (args.asOf != null) {
    refusePast(scope, '/as_of')
    refuseWithPolicy(policy, recordType, 'A list as of a moment')
  }
  if (args.include?.includes('claim')) refuseClaims(policy, recordType, args.asOf != null)
  const type = await typeOf()
  const filter = filterWithPolicy(policy, asked, type)
  const sort = bindSort(order, type)
  const moment = args.asOf == null ? null : readMoment(args.asOf, type.timezone)
  // Past states may have properties that the current schema lacks. Under a field policy, hidden properties
  // count as missing.
  if (projection && !moment && !policy) checkProjectable(projection, type, '/fields')
  const withData = projection === null || showsData(projection) || searches !== null
  // Declared indexes cover only current records.
  const known = moment ? { ...type, indexes: [] } : type
  const asks = { baseId, recordType, type: known, filter, sort, withData, moment }
  return { policy, type, filter, sort, projection, expand, searches, moment, asks }
}

/** Counts the matches for an empty page, which may be beyond the last match. */
async function countAll(scope: Scope, query: ListQuery): Promise<number> {
  if (query.offset === 0 && query.position === null) return 0
  const { text, values } = countStatement(query)
  const [counted] = await read<{ total: number }>(scope, lagging(shaped(text)), values)
  return counted?.total ?? 0
}

function readArgs({ fields, expand, asOf, ...question }: ListArgs) {
  if (asOf != null) readMoment(asOf, 'UTC')
  if (asOf != null && expand) throw expandsPast()
  return {
    ...readQuestion(question, { isPast: asOf != null }),
    projection: fields ? parseFields(fields, '/fields') : null,
    expand: expand ? parseExpand(expand, '/expand') : null,
  }
}

type Slow = { took: number; advice: Advice | null }

function noteSlow({ slowLists }: Scope, { baseId, recordType }: ListQuery, { took, advice }: Slow): void {
  const { index = null, status = null, recordType: far } = advice ?? {}
  slowLists.add({ baseId, recordType: far ?? recordType, index, status }, took)
}

/** Advice for a slow list: an index to declare, or the reason why a declared index is not used yet. */
function slowHint({ took, advice }: Slow): string | null {
  if (!advice) return null
  const index = JSON.stringify(advice.index)
  const slow = `This list took ${Math.round(took)} ms.`
  const type = advice.recordType ? `record type "${advice.recordType}"` : 'record type'
  switch (advice.status) {
    case 'undeclared':
      return `${slow} A declared index would serve it: add ${index} to "indexes" of the ${type}.`
    case 'building':
      return `${slow} The declared index ${index} is still being built and will serve it once its status is "ready".`
    case 'failed':
      return `${slow} The declared index ${index} would serve it, but its build failed: the ${type} lists the "duplicates".`
  }
}

type Claims = Awaited<ReturnType<typeof activeClaimsOf>>

/**
 * Refuses claims where they cannot be shown.
 * @throws FORBIDDEN under a policy; VALIDATION_ERROR for a read of the past
 */
export function refuseClaims(policy: TypePolicy | undefined, recordType: string, isPast: boolean): void {
  refuseWithPolicy(policy, recordType, 'The claim of a record')
  if (isPast)
    throw invalid({
      path: '/include',
      code: 'exclusive',
      message: 'Claims are those of now. Leave include out, or read the present.',
      received: 'claim',
    })
}

/** A row of a list, with its search score. Outside a transaction, its data is JSON text. */
export type ListedRow = RecordRow & { score?: number; snippets?: Snippet[] }

async function withSnippets(
  scope: Scope,
  rows: readonly Row[],
  searches: readonly Condition[],
): Promise<Row[]> {
  const read: Row[] = []
  for (const row of rows) {
    if (turnIsOver()) await nextTurn()
    read.push(parsed(row))
  }
  const snippets = await snippetsOf(scope, read, searches)
  return read.map((row, i) => ({ ...row, snippets: snippets[i] ?? [] }))
}

/**
 * Serializes rows for REST and MCP. Unprojected rows stay JSON text: parsing them would be half of the work
 * of a list.
 */
export function asRows(
  recordType: string,
  rows: readonly ListedRow[],
  projection: Projection | null,
  expansions: readonly Expansion[],
  claims: Claims | null,
): JsonRows | Promise<object[]> {
  const areText = rows.every(({ data }) => typeof data === 'string')
  if (areText && projection === null && expansions.length === 0 && claims === null)
    return new JsonRows(rows.map((row) => toViewText(recordType, row)))
  return asObjects(recordType, rows, projection, expansions, claims)
}

async function asObjects(
  recordType: string,
  rows: readonly ListedRow[],
  projection: Projection | null,
  expansions: readonly Expansion[],
  claims: Claims | null,
): Promise<object[]> {
  const objects: object[] = []
  for (const [i, row] of rows.entries()) {
    if (turnIsOver()) await nextTurn()
    const view = toView(recordType, parsed(row))
    if (row.snippets) view._snippets = row.snippets
    const claim = claims?.get(row.id)
    const more = { ...expansions[i], ...(claims && { claim: claim ? claimView(claim) : null }) }
    objects.push(Object.assign(projection ? project(view, projection) : view, more))
  }
  return objects
}

/** Converts a row to the GraphQL format. */
function asItem(
  recordType: string,
  row: ListedRow,
  projection: Projection | null,
  expansion?: Expansion,
): RecordItem {
  const { score = null, snippets } = row
  const record = { ...toRecord(recordType, parsed(row)), searchScore: score, snippets, expansion }
  if (!projection || projection.names.has('data')) return record
  return { ...record, data: projectData(record.data, projection.paths) ?? {} }
}

const parsed = <R extends ListedRow>(row: R): R =>
  typeof row.data === 'string' ? { ...row, data: JSON.parse(row.data) } : row
