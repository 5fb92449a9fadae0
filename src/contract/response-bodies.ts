/** Response bodies shared by REST and MCP, so that both return the same JSON. */

import type { JsonRows } from '../json/rows.ts'
import { awaiting } from './plan-messages.ts'
import type { RecordLink } from './shapes.ts'

/** Optional fields: left out when null. All other fields are present even when null. */
const OCCASIONAL = new Set([
  'valid',
  'operation',
  'relationships',
  'replaced',
  'dry_run',
  'last',
  'token',
  'secrets',
  'kept',
  'counts',
  'proposed',
  '_expanded',
  '_expanded_truncated',
])

/**
 * Copies a resource without its optional fields that are null. Copying is faster than `delete`, which makes
 * V8 objects slow.
 */
export function trim<T extends object>(resource: T): T {
  const body: Record<string, unknown> = {}
  for (const field in resource)
    if (resource[field] !== null || !OCCASIONAL.has(field)) body[field] = resource[field]
  return body as T
}

type WrittenFields = { warnings?: string[] | null; records_rewritten?: unknown }

/** The body of a write to configuration: the resource, and beside it warnings and what it did to records. */
export function writtenBody<T extends WrittenFields>({ warnings, records_rewritten, ...written }: T) {
  const body = trim(written)
  const meta = {
    ...(warnings?.length && { warnings }),
    ...(records_rewritten != null && { records_rewritten }),
  }
  return Object.keys(meta).length > 0 ? { ...body, meta } : body
}

type Page<T> = {
  data: readonly T[]
  /** Null: not known, as in a page of an external source. */
  hasMore: boolean | null
  truncated?: boolean | null
  limit: number
  offset: number
  total?: number | null
  nextCursor?: string | null
  hint?: string | null
}

/** The body of a list response. */
export const pageBody = <T extends object>(page: Page<T>) => ({
  data: page.data.map(trim),
  meta: metaOf(page),
})

/** The body of a record list, whose rows are serialized already. */
export const rowsBody = ({ rows, ...page }: Omit<Page<object>, 'data'> & { rows: unknown }) => ({
  data: rows as object[] | JsonRows,
  meta: metaOf(page),
})

const metaOf = ({
  hasMore,
  truncated,
  limit,
  offset,
  total,
  nextCursor,
  hint,
}: Omit<Page<object>, 'data'>) => ({
  ...(hasMore !== null && { has_more: hasMore }),
  ...(truncated && { truncated }),
  limit,
  offset,
  ...(typeof total === 'number' && { total }),
  ...(nextCursor && { next_cursor: nextCursor }),
  ...(hint && { hint }),
})

type SqlAnswer<M> = { data: unknown; meta: M }

/** The body of a read by SQL, without the hint if there is none. */
export function sqlBody<M extends { hint: string | null }>({ data, meta: { hint, ...meta } }: SqlAnswer<M>) {
  return { data, meta: { ...meta, ...(hint !== null && { hint }) } }
}

type ClaimedRecords = {
  data: readonly { record: object; claim: object }[]
  limit: number
  truncated: boolean | null
  hint: string | null
  dry_run: boolean | null
}

/** The body of a claim response: records, each with its claim. */
export const claimedBody = ({ data, limit, truncated, hint, dry_run }: ClaimedRecords) =>
  trim({
    data: data.map(({ record, claim }) => ({ record: trim(record), claim })),
    meta: {
      count: data.length,
      limit,
      ...(truncated && { has_more: true, truncated }),
      ...(hint && { hint }),
    },
    dry_run,
  })

type ClaimOutcomes = {
  data: readonly { id: string; claim: object | null; code: string | null; message: string | null }[]
  dry_run: boolean | null
}

/** The body of an action on several claims: each with its state, or why it was refused. */
export function claimOutcomesBody({ data, dry_run }: ClaimOutcomes) {
  const rows = data.map(({ id, claim, code, message }) =>
    claim ? trim(claim) : { id, error: { code, message } },
  )
  const refused = data.filter(({ claim }) => claim === null).length
  return trim({ data: rows, meta: { count: rows.length, ...(refused > 0 && { refused }) }, dry_run })
}

/** Converts a relationship from wire names to GraphQL input names. */
export const linkOf = (link: RecordLink) => ({
  relType: link.rel_type,
  recordType: link.record_type,
  direction: link.direction ?? null,
  id: link.id ?? null,
  externalId: link.external_id ?? null,
  externalSource: link.external_source ?? null,
  data: link.data ?? null,
})

type Group = { count: number; of: readonly { type: string; count: number }[] }
export type DeletionFields = {
  bases: Group
  recordTypes: Group
  relationshipTypes: Group
  fileTypes: Group
  records: Group
  relationships: Group
  files: Group
  attachments: Group
  samples: readonly string[]
  titles: readonly (string | null)[]
}
type DeletionPlanFields = DeletionFields & { what: string; token: string; expiresAt: string }

/** The body of a deletion plan. Empty groups are left out. */
export const planBody = (plan: DeletionPlanFields) => ({
  plan: { what: plan.what, ...partsOf(plan) },
  ...awaiting('deletion', plan),
})

/** The body of a write that can say what it deleted. Empty groups are left out. */
export function deletedBody<T extends object>({
  deletion,
  ...done
}: T & { deletion?: DeletionFields | null }): object {
  const body = trim(done)
  return deletion ? { ...body, deletion: partsOf(deletion) } : body
}

const partsOf = (deletion: DeletionFields) => ({
  ...named('bases', deletion.bases),
  ...named('record_types', deletion.recordTypes),
  ...named('relationship_types', deletion.relationshipTypes),
  ...named('file_types', deletion.fileTypes),
  ...counted('records', deletion.records),
  ...counted('relationships', deletion.relationships),
  ...counted('files', deletion.files),
  ...counted('attachments', deletion.attachments),
  ...(deletion.samples.length > 0 && { samples: deletion.samples }),
  ...(deletion.titles.some((title) => title !== null) && { titles: deletion.titles }),
})

const named = (key: string, { count, of }: Group) =>
  count > 0 && { [key]: { count, names: of.map(({ type }) => type) } }

const counted = (key: string, { count, of }: Group) =>
  count > 0 && {
    [key]: { count, by_type: Object.fromEntries(of.map(({ type, count }) => [type, count])) },
  }

type Changes = {
  data: readonly Change[]
  hasMore: boolean
  limit: number
  nextBefore: number | null
  hint: string | null
}

type Change = object & { fields?: readonly { row: unknown }[] | null | undefined }
const withFieldRows = <T extends Change>(change: T): object =>
  change.fields ? { ...change, fields: change.fields.map(({ row }) => row) } : change

type Calls = { data: readonly object[]; hasMore: boolean; limit: number; nextBefore: string | null }

/** The body of a list of calls. */
export const callsBody = <C extends Calls>({ data, hasMore, limit, nextBefore }: C) => ({
  data: data as C['data'],
  meta: { has_more: hasMore, limit, ...(nextBefore !== null && { next_before: nextBefore }) },
})

/** The body of a list of changes, or of their groups. */
export function changesBody(
  changes: (Changes & { nextAfter: number | null }) | undefined,
  groups: Changes | undefined,
) {
  const page = groups ?? changes
  if (!page) throw new Error('There is no page')
  return {
    data: page.data.map((each) => trim(withFieldRows(each))),
    meta: {
      has_more: page.hasMore,
      limit: page.limit,
      ...(changes && changes.nextAfter !== null && { next_after: changes.nextAfter }),
      ...(page.nextBefore !== null && { next_before: page.nextBefore }),
      ...(page.hint !== null && { hint: page.hint }),
    },
  }
}
