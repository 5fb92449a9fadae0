/** Reads records of a source. Nothing of them is stored. */
import { invalid } from '../../../foundation/errors.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { readPage } from '../../core/page.ts'
import { authorize, refuseWithPolicy } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { checkExternal, viewOf } from '../../data/ledger/record.ts'
import { checkProjectable, parseFields, project, projectData } from '../../records/query/projection.ts'
import { namesIn } from '../../schema/templates/urls.ts'
import { callSource } from './call-source.ts'
import { unreadable } from './failures.ts'
import { requireSource, type SourceUse } from './find-source.ts'
import { recordOf, recordsOf } from './map-answer.ts'
import type { SourceRecord } from './source-record.ts'

/** The page of a source that a caller asks for. `includeTotal` needs a source that says its total. */
export type SourceListArgs = {
  fields?: readonly string[] | null | undefined
  limit?: number | null | undefined
  offset?: number | null | undefined
  includeTotal?: boolean | null | undefined
  /** Returns the total of a source that says it, and null for others. */
  totalIfKnown?: boolean
}

/** A page of a source. `hasMore` is null where it cannot be known. */
export type SourcePage = {
  readonly data: readonly SourceRecord[]
  /** In the form of REST, with the selected fields. */
  readonly rows: readonly object[]
  readonly hasMore: boolean | null
  readonly limit: number
  readonly offset: number
  readonly total: number | null
}

/**
 * Reads a record by its id in the source.
 * @throws FORBIDDEN outside the grants and under a policy; VALIDATION_ERROR for a source that the type lacks; what
 * `callSource` throws
 */
export async function getSourceRecord(
  scope: Scope,
  baseId: string,
  recordType: string,
  name: string,
  id: string,
): Promise<SourceRecord> {
  requireNoPolicy(scope, 'read', baseId, recordType)
  checkExternal(id, '/id')
  const use = requireSource(await requireType(scope, baseId, recordType), name, 'get')
  const answer = await callSource(scope, use, { external_id: id })
  if (answer.json === undefined) throw unreadable(use, 'The answer is empty.')
  return recordOf(use, answer, id)
}

/**
 * Reads a page of a source.
 * @throws as getSourceRecord
 */
export async function listSourceRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  name: string,
  { fields, totalIfKnown, ...args }: SourceListArgs,
): Promise<SourcePage> {
  requireNoPolicy(scope, 'read', baseId, recordType)
  const page = readPage(args)
  const projection = fields ? parseFields(fields, '/fields') : null
  const type = await requireType(scope, baseId, recordType)
  if (projection) checkProjectable(projection, type, '/fields')
  const use = requireSource(type, name, 'list')
  const paging = pagingOf(use, page)
  const answer = await callSource(scope, use, paging.values)
  if (answer.json === undefined) throw unreadable(use, 'The answer is empty.')
  const { elements, total, toRecord } = await recordsOf(use, answer)
  if (paging.isExact && elements.length > page.limit)
    throw unreadable(
      use,
      `A page has ${elements.length} records. {{limit}} asked for ${page.limit}, and {{page}} counts pages of that size.`,
    )
  const shown = elements.slice(paging.skipped, paging.skipped + page.limit)
  const known = total ?? (paging.isWhole ? elements.length : null)
  const data: SourceRecord[] = []
  for (const [n, element] of shown.entries()) data.push(await toRecord(element, paging.skipped + n))
  return {
    data:
      projection && !projection.names.has('data')
        ? data.map((record) => ({ ...record, data: projectData(record.data, projection.paths) ?? {} }))
        : data,
    rows: data.map((record) => (projection ? project(viewOf(record), projection) : viewOf(record))),
    hasMore: hasMore(page, shown.length, elements.length - paging.skipped, known),
    limit: page.limit,
    offset: page.offset,
    total: page.includeTotal || totalIfKnown ? known : null,
  }
}

type Asked = { readonly limit: number; readonly offset: number; readonly includeTotal: boolean }
type Paging = {
  readonly values: { readonly limit: number; readonly offset: number; readonly page: number }
  /** Elements of the answer that come before the page. */
  readonly skipped: number
  /** The answer has all records. */
  readonly isWhole: boolean
  /** A longer answer would shift the pages after it. */
  readonly isExact: boolean
}

/** What to ask a source for. A source whose url has no place for a page answers everything, and the page is cut from it. */
function pagingOf({ source, request }: SourceUse<'list'>, { limit, offset, includeTotal }: Asked): Paging {
  const names = namesIn(request.url)
  const isWhole = names.length === 0
  const byPage = names.includes('page')
  if (includeTotal && !isWhole && request.total_path === undefined)
    throw invalid({
      path: '/include_total',
      code: 'not_of_source',
      message: `The source "${source.name}" does not say how many records it has. Leave include_total out, or add total_path to its list.`,
    })
  if (byPage && offset % limit !== 0)
    throw invalid({
      path: '/offset',
      code: 'not_a_page',
      message: `The source "${source.name}" has pages. Send an offset that is a multiple of limit.`,
      received: offset,
      expected: `a multiple of ${limit}`,
    })
  if (!isWhole && !byPage && !names.includes('offset') && offset > 0)
    throw invalid({
      path: '/offset',
      code: 'not_of_source',
      message: `The source "${source.name}" has no {{offset}} or {{page}} in its url: only the first page can be read. Leave offset out, or send a larger limit.`,
      received: offset,
    })
  return {
    values: { limit, offset, page: offset / limit + 1 },
    skipped: isWhole ? offset : 0,
    isWhole,
    isExact: byPage,
  }
}

/** Whether there are more after `shown` records; null if the source does not say. A short page may be one of its own limit. */
function hasMore({ offset }: Asked, shown: number, found: number, total: number | null): boolean | null {
  if (total !== null) return offset + shown < total && shown > 0
  if (found > shown) return true
  return shown === 0 ? false : null
}

/**
 * Checks a permission. A policy compiles to SQL, and a source answers none.
 * @throws FORBIDDEN
 */
export function requireNoPolicy(
  scope: Scope,
  permission: 'read' | 'write',
  baseId: string,
  recordType: string,
): void {
  const policy = authorize(scope, permission, baseId, recordType)
  refuseWithPolicy(policy, recordType, 'An external source')
}
