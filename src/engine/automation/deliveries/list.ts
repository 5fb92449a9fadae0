/** The deliveries of all triggers and inbound webhooks of a base. */
import { isRecordId, isTypeId } from '../../../contract/ids.ts'
import { INBOUND_STATUSES } from '../../../contract/inbound-webhook-shapes.ts'
import { readMoment } from '../../../contract/time-input.ts'
import { DELIVERY_STATUSES } from '../../../contract/trigger-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { INBOUND_WEBHOOK } from '../../configuration/inbound-webhooks/index.ts'
import type { Kind } from '../../configuration/lifecycle/kind.ts'
import { rightsTo } from '../../configuration/lifecycle/read.ts'
import { TRIGGER } from '../../configuration/triggers/index.ts'
import { cursorsOf, openCursor } from '../../core/cursor.ts'
import { requireBase } from '../../core/existing-base.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { read, readPageRows, type Scope } from '../../core/scope.ts'
import { type Titled, withTitles } from '../../records/titles.ts'
import { shaped } from '../../storage/database/client.ts'
import { answerOf, type Delivery, webhookId } from '../triggers/index.ts'

/** A delivery of a trigger (`out`) or to an inbound webhook (`in`); the other direction has no members of the one. */
export type BaseDelivery = {
  direction: 'out' | 'in'
  of: { kind: 'trigger' | 'inbound_webhook'; id: string; name: string }
  id: string
  status: string
  attempts: number
  recordType: string | null
  /** The record that a change was of; of `in`, the first one that it wrote. */
  recordId: string | null
  event: string | null
  changeSeq: number | null
  nextAttemptAt: string | null
  lastAttemptAt: string | null
  /** The same on each attempt of `out`. */
  webhookId: string | null
  responseStatus: number | null
  /** Of the last attempt of `out`; null if nothing answered. */
  response: Delivery['response']
  /** Why it failed, in words. */
  error: string | null
  createdAt: string
}

export type DeliveryFilter = {
  readonly direction?: string | null | undefined
  /** The id of a trigger or an inbound webhook. */
  readonly of?: string | null | undefined
  readonly status?: string | null | undefined
  readonly since?: string | null | undefined
  readonly until?: string | null | undefined
  readonly recordType?: string | null | undefined
  /** The id of a record. */
  readonly id?: string | null | undefined
}

/** The kinds that have deliveries. Their rights are those of the base as a whole. */
export const SENDERS: readonly Kind[] = [TRIGGER, INBOUND_WEBHOOK]
const DIRECTIONS = ['out', 'in'] as const
const STATUSES: readonly string[] = [...new Set([...DELIVERY_STATUSES, ...INBOUND_STATUSES])]

const TABLES = {
  out: {
    statuses: DELIVERY_STATUSES as readonly string[],
    kind: 'trigger',
    of: 'trigger_id',
    columns: `d.record_type, d.record_id, d.event, d.change_seq::float8 AS change_seq, d.next_attempt_at, d.response_status,
       d.response_body, d.duration_ms, d.error`,
  },
  in: {
    statuses: INBOUND_STATUSES as readonly string[],
    kind: 'inbound_webhook',
    of: 'webhook_id',
    columns: `o.record_type, d.records -> 0 ->> 'id' AS record_id, NULL::text AS event, NULL::float8 AS change_seq,
       NULL::timestamptz AS next_attempt_at, NULL::int AS response_status, NULL::text AS response_body,
       NULL::int AS duration_ms, d.error ->> 'message' AS error`,
  },
} as const

type Row = {
  direction: 'out' | 'in'
  of_id: string
  of_name: string
  id: string
  status: string
  attempts: number
  record_type: string | null
  record_id: string | null
  event: string | null
  change_seq: number | null
  next_attempt_at: string | null
  last_attempt_at: string | null
  response_status: number | null
  response_body: string | null
  duration_ms: number | null
  error: string | null
  created_at: string
}

/** Deliveries that match a filter, as SQL. Each direction and status is read from an index in the order of the list. */
function matching(filter: DeliveryFilter, values: unknown[], newest: string, limit: string): string[] {
  const bind = (value: unknown) => `$${values.push(value)}`
  const { direction, of, status, since, until, recordType, id } = filter
  const [sinceAt, untilAt] = [since, until].map((each) =>
    each == null ? null : bind(readMoment(each).toISOString()),
  )
  const [ofId, type, record] = [of, recordType, id].map((each) => (each == null ? null : bind(each)))
  const records = id == null ? null : bind(JSON.stringify([{ id }]))
  return DIRECTIONS.filter((each) => direction == null || direction === each).flatMap((each) => {
    const { statuses, kind, of: column, columns } = TABLES[each]
    const conditions = [
      `d.base_id = $1`,
      newest,
      ofId && `d.${column} = ${ofId}`,
      sinceAt && `d.created_at >= ${sinceAt}::timestamptz`,
      untilAt && `d.created_at < ${untilAt}::timestamptz`,
      type && `${each === 'out' ? 'd' : 'o'}.record_type = ${type}`,
      record && (each === 'out' ? `d.record_id = ${record}` : `d.records @> ${records}::jsonb`),
    ].filter(Boolean)
    return statuses
      .filter((one) => status == null || status === one)
      .map(
        (
          one,
        ) => `(SELECT '${each}' AS direction, d.${column} AS of_id, o.name AS of_name, d.id, d.status, d.attempts, ${columns},
           d.last_attempt_at, d.created_at
         FROM plinth.${kind === 'trigger' ? 'trigger_delivery' : 'inbound_delivery'} d
         JOIN plinth.${kind} o ON o.base_id = d.base_id AND o.id = d.${column}
         WHERE d.status = '${one}' AND ${conditions.join(' AND ')} ${limit})`,
      )
  })
}

/**
 * Lists the deliveries of a base, newest first.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function listBaseDeliveries(
  scope: Scope,
  baseId: string,
  { limit, offset, cursor, includeTotal, ...filter }: DeliveryFilter & PageArgs,
): Promise<Page<Titled<BaseDelivery>>> {
  for (const kind of SENDERS) rightsTo(kind).read(scope, baseId, '')
  checkFilter(filter)
  const page = readPage({ limit, offset, cursor, includeTotal })
  await requireBase(scope, baseId)
  const boundTo = ['deliveries', baseId, filter, scope.access.grants]
  const start = cursor ? openCursor(scope.keys.cursor, boundTo, cursor) : null
  const values: unknown[] = [baseId, start?.values[0] ?? null, start?.id ?? null, page.limit + 1, page.offset]
  const newest = start
    ? '(d.created_at, d.id) < ($2::timestamptz, $3::text)'
    : '$2::text IS NULL AND $3::text IS NULL'
  const parts = matching(
    filter,
    values,
    newest,
    'ORDER BY d.created_at DESC, d.id DESC LIMIT $4::bigint + $5::bigint',
  )
  if (parts.length === 0)
    return {
      data: [],
      hasMore: false,
      limit: page.limit,
      offset: page.offset,
      total: page.includeTotal ? 0 : null,
    }
  const text = `SELECT * FROM (${parts.join('\nUNION ALL ')}) d ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`
  const { rows, isCut } = await readPageRows<Row>(scope, shaped(text), values)
  const found = toPage(rows, page, page.includeTotal ? await count(scope, baseId, filter) : null, isCut)
  return {
    ...found,
    data: withTitles(scope, baseId, found.data.map(toDelivery), recordOf),
    ...cursorsOf(scope.keys.cursor, boundTo, found, ({ id, created_at }) => ({ id, values: [created_at] })),
  }
}

const recordOf = ({ recordType, recordId: id }: BaseDelivery) =>
  id === null ? null : { kind: 'record', recordType, id }

async function count(scope: Scope, baseId: string, filter: DeliveryFilter): Promise<number> {
  const values: unknown[] = [baseId]
  const text = `SELECT count(*)::int AS total FROM (${matching(filter, values, 'true', '').join(' UNION ALL ')}) d`
  const [row] = await read<{ total: number }>(scope, shaped(text), values)
  return row?.total ?? 0
}

/** @throws VALIDATION_ERROR */
function checkFilter({ direction, status, recordType, id }: DeliveryFilter): void {
  const enums = [
    ['direction', direction, DIRECTIONS],
    ['status', status, STATUSES],
  ] as const
  for (const [name, value, allowed] of enums)
    if (value != null && !(allowed as readonly string[]).includes(value))
      throw invalid({
        path: `/${name}`,
        code: 'enum',
        message: `${name} must be one of the allowed values.`,
        received: value.slice(0, 64),
        allowed,
      })
  if (recordType != null && !isTypeId(recordType))
    throw invalid({
      path: '/record_type',
      code: 'invalid_id',
      message: 'record_type must be the id of a record type.',
    })
  if (id != null && (recordType == null || !isRecordId(id)))
    throw invalid({
      path: recordType == null ? '/record_type' : '/id',
      code: recordType == null ? 'required' : 'invalid_id',
      message: 'id is the id of a record: send its record_type with it.',
    })
}

const toDelivery = (row: Row): BaseDelivery => ({
  direction: row.direction,
  of: { kind: TABLES[row.direction].kind, id: row.of_id, name: row.of_name },
  id: row.id,
  status: row.status,
  attempts: row.attempts,
  recordType: row.record_type,
  recordId: row.record_id,
  event: row.event,
  changeSeq: row.change_seq,
  nextAttemptAt: row.next_attempt_at,
  lastAttemptAt: row.last_attempt_at,
  webhookId: row.direction === 'out' ? webhookId(row.id) : null,
  responseStatus: row.response_status,
  response: answerOf(row.response_status, row.response_body, row.duration_ms),
  error: row.error,
  createdAt: row.created_at,
})
