/** Pages of linked records of many records at once: any number of lists, in one statement. */
import { invalid } from '../../../foundation/errors.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { openCursor, type Position, sealCursor } from '../../core/cursor.ts'
import { authorize, filterWithPolicy, rightsOf, visibleType } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { bindSort } from '../../data/filter/check-fields.ts'
import { type RecordItem, type RecordRow, toRecord } from '../../data/ledger/record.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import { readQuestion } from '../query/compile-query.ts'
import { type Relationship, toRelationship } from '../relationships/index.ts'
import { linkOf } from './expand-statement.ts'
import { ANY_TYPE, withLinkedEnds } from './linked-conditions.ts'
import { policySqlOf, visibleOfAll } from './policy-sql.ts'
import { type PageAsk, relatedPagesStatement } from './related-pages-statement.ts'

/** A list to read for each of many records. `filter` and `sort` are JSON as sent. */
export type RelatedAsk = {
  relType: string
  incoming: boolean
  /** The records whose links it follows, each once. The caller has read them. */
  parents: readonly { recordType: string; id: string }[]
  /** The record type at the far end; null for any that the token may read. */
  farType: string | null
  filter?: unknown
  /** Without one, in the order of creation of the records. */
  sort?: unknown
  first: number
  /** Only with one parent. */
  after?: string | null | undefined
  includeTotal: boolean
  /** Whether the data of the records is read. */
  withData: boolean
}

type RelatedItem = { record: RecordItem; link: Relationship }
/** The page of one parent. */
export type RelatedList = {
  data: readonly RelatedItem[]
  hasMore: boolean
  total: number | null
  /** The cursor of a page that starts after an item. */
  cursorAfter(index: number): string
}

type Row = RecordRow & {
  ask: number
  n: number
  at: number | null
  far: string
  record_type: string
  keys: (string | null)[]
  total: number | null
}

/**
 * Reads the pages of all lists in one statement. Returns them by list and parent, in the given order.
 * @throws VALIDATION_ERROR with the argument at fault, through `located` of its list
 */
export async function relatedPages(
  scope: Scope,
  baseId: string,
  asks: readonly RelatedAsk[],
  located: (ask: number, thrown: unknown) => unknown,
): Promise<RelatedList[][]> {
  const prepared: (PageAsk & { boundTo: (n: number) => unknown })[] = []
  for (const [i, ask] of asks.entries()) {
    try {
      prepared.push(await prepare(scope, baseId, ask))
    } catch (thrown) {
      throw located(i, thrown)
    }
  }
  if (prepared.length === 0) return []
  const statement = relatedPagesStatement(baseId, prepared, {
    readable: namedTypes(rightsOf(scope), 'read', baseId),
    policySql: await policySqlOf(scope, baseId),
  })
  const { rows, isCut } = await scope.db.queryCapped<Row>(
    lagging(shaped(statement.text)),
    statement.values,
    scope.answer.page(),
    scope.closed,
  )
  if (isCut) throw located(0, tooManyBytes())
  const byAsk = Map.groupBy(rows, ({ ask }) => ask)
  return prepared.map((ask, i) => {
    const byParent = Map.groupBy(byAsk.get(i) ?? [], ({ n }) => n)
    return ask.parents.map((_, n) => {
      const list = byParent.get(n + 1) ?? []
      return toList(scope, list, ask, n)
    })
  })
}

async function prepare(scope: Scope, baseId: string, ask: RelatedAsk) {
  const { farType, relType, incoming, parents, first, includeTotal, withData } = ask
  const { filter: sent, sort: order } = readQuestion(ask)
  const isSorted = (ask.sort ?? null) !== null || order.some(({ field }) => field.kind === 'score')
  const policy = farType === null ? undefined : authorize(scope, 'read', baseId, farType)
  const type =
    farType === null
      ? { ...ANY_TYPE, visible: visibleOfAll(scope) }
      : visibleType(policy, await requireType(scope, baseId, farType))
  const sort = isSorted ? bindSort(order, type) : null
  const terms = sort?.map(({ name, descending }) => [name, descending]) ?? null
  const boundTo = (n: number) => {
    const { recordType, id } = parents[n] ?? { recordType: '', id: '' }
    const place = [baseId, recordType, id, relType, incoming, farType]
    return ['related', place, ask.filter ?? null, terms, scope.access.grants, scope.policy?.name ?? '']
  }
  if (ask.after != null && parents.length > 1) throw manyParents()
  const position: Position | null =
    ask.after == null ? null : openCursor(scope.keys.cursor, boundTo(0), ask.after)
  const asked = await withLinkedEnds(scope, baseId, farType, sent)
  const filter = filterWithPolicy(policy, asked, type)
  return {
    ...{ relType, incoming, parents, farType, type, filter, sort, position },
    ...{ first, includeTotal, withData, boundTo },
  }
}

function toList(
  { keys }: Scope,
  rows: readonly Row[],
  { first, boundTo }: { first: number; boundTo: (n: number) => unknown },
  n: number,
): RelatedList {
  const found = rows.filter(({ at }) => at !== null).sort((a, b) => Number(a.at) - Number(b.at))
  const shown = found.slice(0, first)
  return {
    data: shown.map((row) => ({
      record: toRecord(row.record_type, row),
      link: toRelationship(linkOf(row)),
    })),
    hasMore: found.length > first,
    total: rows.find(({ at }) => at === null)?.total ?? null,
    cursorAfter: (index) => {
      const row = shown[index] as Row
      return sealCursor(keys.cursor, boundTo(n), { id: row.id, values: [row.far, ...row.keys] })
    },
  }
}

const tooManyBytes = () =>
  invalid({
    path: '/first',
    code: 'too_large',
    message: 'The related records exceed the size of a response. Send a smaller first, or fewer levels.',
  })

const manyParents = () =>
  invalid({
    path: '/after',
    code: 'many_lists',
    message:
      'A cursor belongs to the list of one record. Ask for that record alone, and for its list after the cursor.',
  })
