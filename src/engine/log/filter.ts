import { isTypeId } from '../../contract/ids.ts'
import { ACTOR_KINDS, type ActorKind } from '../../contract/shapes.ts'
import { nearest } from '../../contract/suggest.ts'
import { readMoment } from '../../contract/time-input.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Change, KINDS, type Kind, OPERATIONS, type Operation } from './entry.ts'

/** Filter arguments of the change log, as sent. */
export type ChangeFilterArgs = {
  recordType?: string | null | undefined
  id?: string | null | undefined
  kind?: string | null | undefined
  operation?: string | null | undefined
  actor?: string | null | undefined
  actorKind?: string | null | undefined
  requestId?: string | null | undefined
  since?: string | null | undefined
  until?: string | null | undefined
}

/** Validated filter of the change log; null does not filter. Timestamps are in the format of entries. */
export type ChangeFilter = {
  readonly recordType: string | null
  readonly id: string | null
  readonly kind: Kind | null
  readonly operation: Operation | null
  /** Id or name of a token. */
  readonly actor: string | null
  readonly actorKind: ActorKind | null
  readonly requestId: string | null
  /** Start of the time range, inclusive. */
  readonly since: string | null
  /** End of the time range, exclusive. */
  readonly until: string | null
  /** Only changes that were made at this endpoint. */
  readonly endpoint: string | null
}

/**
 * Validates the filter arguments. Ages count back from `now`.
 * @throws VALIDATION_ERROR
 */
export function readChangeFilter(args: ChangeFilterArgs, now?: number | null): ChangeFilter {
  const faults: Detail[] = []
  const { recordType = null, id = null, kind = null, operation = null } = args
  const { actor = null, actorKind = null, requestId = null } = args
  if (recordType !== null && !isTypeId(recordType)) faults.push(badType(recordType))
  if (kind !== null && !isOneOf(KINDS, kind)) faults.push(badName('kind', kind, KINDS))
  if (operation !== null && !isOneOf(OPERATIONS, operation))
    faults.push(badName('operation', operation, OPERATIONS))
  if (actorKind !== null && !isOneOf(ACTOR_KINDS, actorKind))
    faults.push(badName('actor_kind', actorKind, ACTOR_KINDS))
  for (const [name, text] of Object.entries({ id, actor, request_id: requestId }))
    if (text !== null && (text === '' || text.length > LIMITS.logFilterChars)) faults.push(badText(name))
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  const moment = (text: string | null | undefined) =>
    text == null ? null : readMoment(text, now).toISOString()
  return {
    recordType,
    id,
    kind: kind as Kind | null,
    operation: operation as Operation | null,
    actor,
    actorKind: actorKind as ActorKind | null,
    requestId,
    since: moment(args.since),
    until: moment(args.until),
    endpoint: null,
  }
}

/** Whether the entry matches the filter. Equivalent to the SQL conditions of `read.ts`. */
export const matches = (filter: ChangeFilter, change: Change): boolean =>
  (filter.recordType === null || change.recordType === filter.recordType) &&
  (filter.id === null || change.id === filter.id) &&
  (filter.kind === null || change.kind === filter.kind) &&
  (filter.operation === null || change.operation === filter.operation) &&
  (filter.requestId === null || change.requestId === filter.requestId) &&
  (filter.actor === null || change.actor.tokenId === filter.actor || change.actor.name === filter.actor) &&
  (filter.actorKind === null || change.actor.kind === filter.actorKind) &&
  (filter.since === null || change.at >= filter.since) &&
  (filter.until === null || change.at < filter.until) &&
  (filter.endpoint === null || change.call?.endpoint === filter.endpoint)

const isOneOf = (names: readonly string[], text: string): boolean => names.includes(text)

function badName(field: string, received: string, allowed: readonly string[]): Detail {
  const hint = nearest(received, allowed)
  return {
    path: `/${field}`,
    code: 'enum',
    message: `Unknown ${field}. Send one of the allowed values, or leave ${field} out for all of them.`,
    received: received.slice(0, 64),
    allowed,
    ...(hint && { hint }),
  }
}

const badType = (received: string): Detail => ({
  path: '/record_type',
  code: 'invalid_id',
  message: 'record_type must be the id of a record type.',
  received: received.slice(0, 64),
})
/** Of a text that nothing has. */
export const badText = (name: string): Detail => ({
  path: `/${name}`,
  code: 'out_of_range',
  message: `${name} must have 1 to ${LIMITS.logFilterChars} characters.`,
})

/**
 * Validates the seq of an entry.
 * @throws VALIDATION_ERROR
 */
export function readSeq(
  name: 'after' | 'before' | 'seq',
  seq: number | null | undefined,
): number | undefined {
  if (seq == null) return undefined
  if (Number.isSafeInteger(seq) && seq >= 0) return seq
  const fault: Detail = {
    path: `/${name}`,
    code: 'out_of_range',
    message: `${name} must be the seq of an entry: a whole number from 0.`,
    received: seq,
  }
  throw invalid(fault)
}
