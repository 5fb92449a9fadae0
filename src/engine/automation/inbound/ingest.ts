/** Writes the records of a delivery, once, and keeps a delivery that fails. */

import { DomainError, errorBody, oneFault, toDomainError, withPaths } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { storableText } from '../../../foundation/text-encoding.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dataText, readPair } from '../../data/ledger/record.ts'
import { checkByteBudget } from '../../records/batch/byte-budget.ts'
import { collect, refuse } from '../../records/batch/faults.ts'
import type { Failure, RecordOperation } from '../../records/batch/operation.ts'
import { prepare } from '../../records/batch/prepare.ts'
import { type Outcome, withinBudget } from '../../records/batch/run-batch.ts'
import { runData } from '../../records/batch/run-data.ts'
import { createRecord, putRecordByPair, type RecordLink } from '../../records/index.ts'
import { readEnds } from '../../records/links.ts'
import { conversionFor } from '../../schema/field-mapping/map-fields.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'
import { writeByFastPath } from './fast-path.ts'
import { type Mapped, mapPayload } from './map-payload.ts'
import type { Delivery } from './open-delivery.ts'
import { challengeIn, deliveryIdIn, keptId, type Payload, readPayload } from './read-payload.ts'

/** A record that a delivery wrote, with the operation. */
export type Written = { readonly id: string; readonly operation: string }
type Ingested = { readonly data: readonly Written[]; readonly challenge: string | null }

/** The row of a delivery, and the id that its sender gave it. */
type DeliveryRow = { readonly id: string; readonly deliveryId: string | null }

/**
 * Writes the records of the delivery that the request brought, whose signature was checked.
 * @throws FORBIDDEN without one; what `ingest` throws
 */
export async function ingestVerified(scope: WriteScope, baseId: string, id: string): Promise<Ingested> {
  const delivery = scope.delivery as Delivery | undefined
  if (delivery?.webhook.baseId !== baseId || delivery.webhook.id !== id) throw notSigned()
  return ingest(scope, delivery)
}

/**
 * Writes the records of a delivery. One that succeeded before is answered as it was, and writes nothing. One that
 * fails is kept.
 * @throws VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
async function ingest(scope: WriteScope, delivery: Delivery): Promise<Ingested> {
  const { webhook, body, contentType } = delivery
  if (delivery.isPing) return { data: [], challenge: null }
  const place = { id: uuidv7(), deliveryId: keptId(delivery.deliveryId) }
  try {
    const payload = await readPayload(body, contentType, webhook.signature)
    const challenge = challengeIn(payload.value, webhook.signature)
    if (challenge !== null) return { data: [], challenge }
    place.deliveryId ??= keptId(deliveryIdIn(payload.value, webhook.signature))
    return { data: await writeOnce(scope, delivery, { place, payload, begin: BEGIN }), challenge: null }
  } catch (thrown) {
    const before = await keepFailure(scope, delivery, place, toDomainError(thrown))
    if (before) return { data: before, challenge: null }
    throw thrown
  }
}

/**
 * Tries a failed delivery again.
 * @throws as ingest
 */
export async function ingestAgain(scope: WriteScope, delivery: Delivery, place: DeliveryRow): Promise<void> {
  try {
    const payload = await readPayload(delivery.body, delivery.contentType, delivery.webhook.signature)
    await writeOnce(scope, delivery, { place, payload, begin: BEGIN_AGAIN })
  } catch (thrown) {
    // A dry run keeps nothing, and a transaction that failed cannot.
    if (!scope.db.isTransaction) await keepFailure(scope, delivery, place, toDomainError(thrown))
    throw thrown
  }
}

// Compared as a row, so that the planner does not choose an index that begins with the webhook and reads all its deliveries.
const BY_SENDERS_ID = 'delivery_id = $4 AND (base_id, webhook_id) IS NOT DISTINCT FROM ($1::text, $2::text)'

// The row of a delivery is the cause of what it writes.
const beginning = (name: string, key: string): Statement =>
  statement(
    name,
    `WITH held AS MATERIALIZED (
       SELECT id, status, records FROM plinth.inbound_delivery WHERE ${key} FOR UPDATE)
     SELECT set_config('plinth.cause', coalesce((SELECT id FROM held), $3), true) AS id,
       (SELECT records FROM held WHERE status = 'succeeded') AS records`,
  )
const BEGIN = beginning('begin_delivery', BY_SENDERS_ID)
const BEGIN_AGAIN = beginning('begin_delivery_again', 'base_id = $1 AND webhook_id = $2 AND id = $3')
const SUCCEED = statement(
  'succeed_delivery',
  `INSERT INTO plinth.inbound_delivery AS d
     (base_id, webhook_id, id, delivery_id, status, records, content_type, request_id, excerpt, warnings, last_attempt_at, created_at)
   VALUES ($1, $2, $3, $4, 'succeeded', $5::jsonb, $6, $7, $8, $9::json, clock_timestamp(), clock_timestamp())
   ON CONFLICT (base_id, webhook_id, id) DO UPDATE SET
     status = 'succeeded', attempts = d.attempts + 1, records = excluded.records, error = NULL, body = NULL,
     excerpt = excluded.excerpt, warnings = excluded.warnings,
     request_id = excluded.request_id, last_attempt_at = excluded.last_attempt_at`,
)
const FAIL = statement(
  'fail_delivery',
  `WITH held AS (
     SELECT id FROM plinth.inbound_delivery WHERE ${BY_SENDERS_ID}),
   kept AS (
     INSERT INTO plinth.inbound_delivery AS d
       (base_id, webhook_id, id, delivery_id, status, error, body, content_type, request_id, excerpt, last_attempt_at, created_at)
     SELECT $1, $2, coalesce((SELECT id FROM held), $3), $4, 'failed', $5::json, $6, $7, $8, $9, clock_timestamp(), clock_timestamp()
     ON CONFLICT (base_id, webhook_id, id) DO UPDATE SET
       attempts = d.attempts + 1, error = excluded.error, body = excluded.body, excerpt = excluded.excerpt,
       content_type = excluded.content_type, request_id = excluded.request_id, last_attempt_at = excluded.last_attempt_at
       WHERE d.status = 'failed'
     RETURNING 1)
   SELECT records FROM plinth.inbound_delivery WHERE ${BY_SENDERS_ID} AND status = 'succeeded'`,
)

async function writeOnce(
  scope: WriteScope,
  delivery: Delivery,
  { place: { id, deliveryId }, payload, begin }: { place: DeliveryRow; payload: Payload; begin: Statement },
): Promise<readonly Written[]> {
  const { webhook, contentType, body } = delivery
  const { baseId } = webhook
  const type = await requireType(scope, baseId, webhook.recordType)
  const { records, isList } = await mapPayload(
    payload.value,
    webhook.mapping,
    conversionFor(type, scope.limits.batchBytes),
  )
  const kept = { excerpt: startOf(body), warnings: warningsText(payload) }
  const [record] = records
  const isPlain = webhook.mapping?.relationships === undefined && webhook.mapping?.on_existing !== 'keep'
  if (!isList && isPlain && record && begin === BEGIN) {
    const written = await writeByFastPath(
      scope,
      delivery,
      { id, deliveryId, newId: uuidv7(), ...kept },
      record,
    )
    if (written) return [written]
  }
  const write =
    isList || !isPlain ? await listWriter(scope, webhook, records, isList) : oneWriter(webhook, records)
  const key = [baseId, webhook.id, id, ...(begin === BEGIN ? [deliveryId] : [])]
  // Of two that arrive at once, one loses the race for the unique delivery_id, and starts again.
  return scope.db.statements(async (tx) => {
    const [held] = await tx.query<{ id: string; records: Written[] | null }>(begin, key)
    if (held?.records) return held.records
    const written = await write({ ...scope, db: tx })
    const row = [baseId, webhook.id, held?.id ?? id, deliveryId, JSON.stringify(written), contentType]
    await tx.query(SUCCEED, [...row, scope.requestId, kept.excerpt, kept.warnings])
    return written
  })
}

type Writer = (within: WriteScope) => Promise<Written[]>
type Into = Delivery['webhook']

const oneWriter =
  ({ baseId, recordType }: Into, [record]: readonly Mapped[]): Writer =>
  async (within) => {
    if (!record) return []
    const { id, operation = 'created' } =
      record.externalId == null
        ? await createRecord(within, baseId, recordType, record)
        : await putRecordByPair(within, baseId, recordType, record, NO_EXPECTATION)
    return [{ id, operation }]
  }

/** Validates the records before the transaction, and writes them as a batch. */
async function listWriter(
  scope: WriteScope,
  { baseId, recordType, mapping }: Into,
  records: readonly Mapped[],
  isList: boolean,
): Promise<Writer> {
  const atRecords = isList ? inRecords : inRecord
  const keeps = mapping?.on_existing === 'keep'
  const failures: Failure[] = []
  const operations = records.flatMap(
    (record, index) =>
      collect(failures, index, () => upsertOf(scope, recordType, record, index, keeps)) ?? [],
  )
  checkByteBudget(scope.limits.batchBytes, operations)
  const { types, missing, faults } = await prepare(scope, baseId, operations)
  try {
    refuse(failures)
    refuse(missing)
    refuse(faults)
  } catch (thrown) {
    throw atRecords(thrown)
  }
  return (within) =>
    withinBudget(within, async (budget) => {
      const outcomes = new Map<number, Outcome>()
      await runData(within, baseId, operations, types, outcomes, budget()).catch((thrown: unknown) => {
        throw atRecords(thrown)
      })
      return [...outcomes.values()]
        .sort((one, other) => one.index - other.index)
        .map(({ id, operation }) => ({ id, operation }))
    })
}

/** A failure with the paths of the records of a delivery, in place of those of the operations of a batch. */
function inRecords(thrown: unknown): unknown {
  const located = withPaths(thrown, (path) => path.replace(/^\/operations\//, '/records/'))
  if (located instanceof DomainError) located.message = located.message.replace(/^Operation /, 'Record ')
  return located
}

/** A failure of the only record of a delivery. */
function inRecord(thrown: unknown): unknown {
  const located = withPaths(thrown, (path) => path.replace(/^\/operations\/0/, ''))
  if (located instanceof DomainError) located.message = located.message.replace(/^Operation 0: /, '')
  return located
}

const upsertOf = (
  { limits }: WriteScope,
  recordType: string,
  { data, links = [], ...record }: Mapped,
  index: number,
  keeps: boolean,
): RecordOperation => ({
  type: 'upsert_record',
  index,
  isNamed: false,
  recordType,
  id: null,
  write: { data, text: dataText(data, limits.recordBytes), pair: readPair(record) },
  links: readEnds(links).map((end, n) => ({ end, id: links[n]?.id ?? null, link: links[n] as RecordLink })),
  keeps,
  expected: NO_EXPECTATION,
})

/**
 * Keeps a delivery that failed for a reason of its own. Returns what it wrote if it has succeeded before; null
 * otherwise.
 */
async function keepFailure(
  { db, requestId }: { readonly db: Db; readonly requestId: string },
  { webhook, body, contentType }: Delivery,
  { id, deliveryId }: DeliveryRow,
  error: DomainError,
): Promise<readonly Written[] | null> {
  if (error.code === 'INTERNAL_ERROR' || error.code === 'RATE_LIMITED') return null
  const { request_id: _, ...reason } = errorBody(error, requestId).error
  const row = [webhook.baseId, webhook.id, id, deliveryId, JSON.stringify(reason), body, contentType]
  const [before] = await db.retry(() =>
    db.query<{ records: Written[] }>(FAIL, [...row, requestId, startOf(body)]),
  )
  return before?.records ?? null
}

const warningsText = ({ warnings }: Payload): string | null =>
  warnings.length === 0 ? null : JSON.stringify(warnings)

const startOf = (body: Buffer): string =>
  storableText(body.subarray(0, LIMITS.deliveryAnswerBytes).toString('utf8'))

const notSigned = () =>
  oneFault('FORBIDDEN', 'A delivery comes to the ingest_url of the inbound webhook, signed.', {
    path: '',
    code: 'not_signed',
    message: 'Send it there. To write records with a token, use the operations of records.',
  })
