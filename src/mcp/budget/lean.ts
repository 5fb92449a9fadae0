/** What answers leave out at `?profile=lean`: what the caller sent, what says nothing, and what is said twice. */
import { type DomainError, restated } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import type { Shape } from '../protocol/result.ts'
import type { Row } from './read-result.ts'

/** Page arguments, and counts of rows that are all there. They matter only if there is more. `undo` needs no request. */
const OF_PAGES = ['has_more', 'limit', 'offset', 'rows', 'count', 'request_id']
/** What the sentence of a plan says too. */
const KINDS = ['bases', 'record_types', 'relationship_types', 'file_types', 'records', 'relationships']
const OF_PLANS = ['count', ...KINDS, 'files', 'attachments']
const OF_RECORDS = [
  'record_type',
  'created_at',
  'updated_at',
  'external_id',
  'external_source',
  'cancelled_at',
]

export const without = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

/** Any answer: `meta` only if it says something, and a plan in its sentence. */
export function lean({ meta, ...body }: Row): Row {
  const { plan } = body
  const shown =
    isObject(plan) && body['plan_token'] !== undefined
      ? without({ ...body, plan: without(plan, OF_PLANS) }, ['expires_at'])
      : body
  const { has_more: hasMore } = (meta ?? {}) as Row
  const said = hasMore === true ? (meta as Row) : without((meta ?? {}) as Row, OF_PAGES)
  return Object.keys(said).length > 0 ? { ...shown, meta: said } : shown
}

/** A record that was written: its id, version and status. A dry run shows the record too. */
export const leanWritten: Shape = (record) =>
  record['dry_run'] ? record : without(record, ['data', ...OF_RECORDS])

/** A record that was claimed: the caller has not seen its data. */
const leanClaimed = ({ record, claim, ...rest }: Row): Row => {
  const { id, expires_at } = claim as Row
  return { record: without(record as Row, [...OF_RECORDS, 'status']), claim: { id, expires_at }, ...rest }
}

const leanClaim: Shape = (claim) => {
  const ended = claim['status'] === 'active' ? [] : ['expires_at']
  return without(claim, ['record_type', 'holder', 'claimed_at', 'attempts', ...ended])
}

/** An answer of `work`: claimed records, a claim, or several. What a wait found stays as it is. */
export function leanWork({ data, ...body }: Row): Row {
  if (!Array.isArray(data)) return leanClaim(without(body, ['id']))
  const rows = data.map((row: Row) =>
    'claim' in row ? leanClaimed(row) : 'record_id' in row ? leanClaim(row) : row,
  )
  return { data: rows, ...body }
}

/** An error: a hint with the whole correction needs no list of what is allowed. */
export const leanError = (error: DomainError): DomainError => {
  const details = error.details.map(({ allowed, ...detail }) =>
    allowed === undefined || detail.hint?.startsWith('{') ? detail : { ...detail, allowed },
  )
  return restated(error, { details })
}
