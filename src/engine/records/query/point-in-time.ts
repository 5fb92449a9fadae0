import { readMoment as instantOf, isAge, MOMENT } from '../../../contract/time-input.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import type { Scope } from '../../core/scope.ts'
import { isTime } from '../../data/filter/value.ts'
import {
  type RecordItem,
  type RecordRow,
  recordNotFound,
  toRecord,
  written,
} from '../../data/ledger/record.ts'
import { GET_AS_OF, GET_PURGED, GET_SPAN, GET_VERSION } from './point-in-time-statements.ts'

/** Selects a past state of a record: by version or by time. */
export type PastArgs = { version?: number | null | undefined; asOf?: string | null | undefined }
type Past = { version: number } | { moment: Moment }
type Row = RecordRow & { is_gone: boolean }
type RecordKey = readonly [baseId: string, recordType: string, id: string]

export const asksPast = ({ version, asOf }: PastArgs): boolean => version != null || asOf != null

/**
 * Parses the selector.
 * @throws VALIDATION_ERROR for both at once, a version below 1, or an invalid time
 */
export function readPast({ version, asOf }: PastArgs, zone: string): Past {
  if (version == null) return { moment: readMoment(asOf ?? '', zone) }
  if (asOf != null)
    throw invalid({
      path: '/as_of',
      code: 'exclusive',
      message: 'version and as_of exclude each other. Send one of them.',
    })
  if (version >= 1) return { version }
  throw invalid({
    path: '/version',
    code: 'out_of_range',
    message: 'Versions count from 1.',
    received: version,
  })
}

/**
 * Reads a record at a version or point in time.
 * @throws NOT_FOUND when it did not exist then, or the history is purged
 */
export async function getPastRecord(scope: Scope, target: RecordKey, past: Past): Promise<RecordItem> {
  const [row] =
    'version' in past
      ? await scope.db.query<Row>(GET_VERSION, [...target, past.version])
      : await scope.db.query<Row>(GET_AS_OF, [...target, past.moment.text, past.moment.zone])
  if (row && !row.is_gone) return toRecord(target[1], row)
  throw 'version' in past
    ? await noSuchVersion(scope, target, past.version, row)
    : await notThere(scope, target, past.moment, row)
}

async function noSuchVersion(
  scope: Scope,
  target: RecordKey,
  version: number,
  row?: Row,
): Promise<DomainError> {
  const [, recordType, id] = target
  if (row)
    return absent(`Version ${version} of record "${id}" is its deletion.`, {
      path: '/version',
      code: 'version_deleted',
      message: `Read version ${version - 1}, which is what was deleted, or restore the record.`,
      hint: String(version - 1),
    })
  const [span] = await scope.db.query<{ first: number | null; last: number }>(GET_SPAN, [...target])
  if (!span || span.first === null) return recordNotFound(recordType, id)
  return absent(`There is no version ${version} of record "${id}".`, {
    path: '/version',
    code: 'version_not_found',
    message: `Versions ${span.first} to ${span.last} are kept: ${advised('history')}.`,
    received: version,
    expected: { from: span.first, to: span.last },
  })
}

async function notThere(scope: Scope, target: RecordKey, moment: Moment, row?: Row): Promise<DomainError> {
  const [baseId, recordType, id] = target
  const from = row ? null : await purgedUntil(scope, baseId, moment)
  if (from) return absent(`The history of that time has been purged.`, purged(from))
  return absent(`There was no record "${id}" of type "${recordType}" at that time.`, {
    path: '/as_of',
    code: 'record_not_found',
    message: `It was ${row ? 'deleted' : 'not created yet'}: ${advised('history')} shows when it was there.`,
    received: moment.text,
  })
}

/**
 * Checks that the history since the time is complete.
 * @throws VALIDATION_ERROR when part of it is purged
 */
export async function requireCompleteHistory(
  scope: Scope,
  baseId: string,
  moment: Moment,
  path = '/as_of',
): Promise<void> {
  const from = await purgedUntil(scope, baseId, moment)
  if (from) throw invalid({ ...purged(from), path })
}

/** The start of the complete history, if it is after the given time. */
async function purgedUntil(scope: Scope, baseId: string, { text, zone }: Moment): Promise<string | null> {
  const [row] = await scope.db.query<{ history_from: string }>(GET_PURGED, [baseId, text, zone])
  return row ? written(row.history_from) : null
}

const purged = (from: string): Detail => ({
  path: '/as_of',
  code: 'history_purged',
  message: `The base keeps its history for some days only ("history_days"): ask for ${from} or later.`,
  expected: { from },
})

const absent = (message: string, detail: Detail) =>
  new DomainError('NOT_FOUND', message, { details: [detail] })

/** A point in time as the caller wrote it, an age as the time that it means; without an offset it is read in the type's timezone. */
export type Moment = { text: string; zone: string }

/**
 * Parses `as_of`.
 * @throws VALIDATION_ERROR at `/as_of` for an invalid time
 */
export function readMoment(text: string, zone: string): Moment {
  if (isTime(text)) return { text, zone }
  if (isAge(text)) return { text: instantOf(text).toISOString(), zone }
  // In a URL, an unescaped plus sign decodes to a space.
  const [, time, offset] = /^(\S+) (\d\d:\d\d)$/.exec(text) ?? []
  throw invalid({
    path: '/as_of',
    code: 'invalid_time',
    message: `as_of must be ${MOMENT}.`,
    received: text.slice(0, 64),
    ...(offset && { hint: `${time}%2B${offset}` }),
  })
}
