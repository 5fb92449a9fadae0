import { distance } from 'fastest-levenshtein'
import { own } from '../foundation/own.ts'

/**
 * Returns the candidate with the smallest edit distance to a misspelled name, or undefined if none is close.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.slice(0, 100).toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 2)) + 1
  for (const candidate of candidates) {
    const away = distance(wanted, candidate.toLowerCase())
    if (away < bestDistance) [best, bestDistance] = [candidate, away]
  }
  return best
}

/** What other systems call a value, by what it is called here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  average: 'avg',
  mean: 'avg',
  total: 'sum',
  minimum: 'min',
  maximum: 'max',
  distinct: 'count_distinct',
  unique: 'count_distinct',
  update_record: 'patch_record',
  put_record: 'upsert_record',
  insert_record: 'create_record',
  link_records: 'upsert_relationship',
  unlink_records: 'delete_relationship',
  done: 'complete',
  finish: 'complete',
  ack: 'complete',
  create: 'create_record',
  insert: 'create_record',
  update: 'patch_record',
  patch: 'patch_record',
  upsert: 'upsert_record',
  delete: 'delete_record',
  link: 'upsert_relationship',
  unlink: 'delete_relationship',
  monthly: 'month',
  weekly: 'week',
  daily: 'day',
  yearly: 'year',
  hourly: 'hour',
  extend: 'heartbeat',
  renew: 'heartbeat',
  unlock: 'release',
}

/** The value of a short list that is meant by another: a synonym, or one with few other letters. */
export function meantValue(value: string, allowed: readonly string[]): string | undefined {
  const word = value.slice(0, 100).toLowerCase()
  const synonym = own(SYNONYMS, word)
  return synonym !== undefined && allowed.includes(synonym) ? synonym : resembling(word, allowed)
}

/**
 * The name of a short list with few other letters. Stricter than `nearest`, since "min" for "median", or "migration"
 * for "revision", would mislead.
 */
export function resembling(name: string, allowed: readonly string[]): string | undefined {
  const word = name.slice(0, 100).toLowerCase()
  const close = nearest(word, allowed)
  if (close === undefined) return undefined
  const isPart = word.startsWith(close.toLowerCase()) || close.toLowerCase().startsWith(word)
  const away = distance(word, close.toLowerCase())
  return isPart || isClose(word, close.toLowerCase()) || away <= Math.ceil(word.length / 3)
    ? close
    : undefined
}

/** What other systems call a field of a request, by the fields that may be meant. The first that a body has is meant. */
const FIELD_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  schema: ['json_schema', 'data_schema'],
  fields: ['json_schema', 'data'],
  columns: ['json_schema'],
  properties: ['json_schema', 'data'],
  attributes: ['json_schema', 'data'],
  values: ['data'],
  changes: ['data'],
  source: ['source_record_types', 'source_record_type', 'id'],
  from: ['source_record_types', 'source_record_type'],
  source_types: ['source_record_types'],
  target: ['target_record_types', 'target_record_type', 'id'],
  to: ['target_record_types', 'target_record_type'],
  target_types: ['target_record_types'],
  confirm: ['plan_token'],
  confirmed: ['plan_token'],
  approve: ['plan_token'],
  op: ['type', 'fn'],
  operation: ['type', 'fn', 'action'],
  action: ['type'],
  function: ['fn'],
  func: ['fn'],
  as: ['alias'],
  column: ['field'],
  relationship: ['rel_type', 'relationship_type'],
  relation: ['rel_type', 'relationship_type'],
  link_type: ['rel_type'],
  type: ['rel_type', 'record_type'],
  target_id: ['id'],
  source_id: ['id'],
  target_record_type: ['record_type'],
  target_external_id: ['external_id'],
  ref: ['name'],
  collection: ['record_type'],
  table: ['record_type'],
  entity: ['record_type'],
  id: ['claim_id'],
  claim: ['claim_id'],
  claims: ['claim_ids'],
  lease: ['lease_seconds'],
  ttl: ['lease_seconds'],
  timeout_seconds: ['timeout'],
  cursor: ['after'],
  at: ['as_of'],
  asof: ['as_of'],
  timestamp: ['as_of'],
  message: ['description'],
}

/** What other systems call a column of SQL, by the columns that may be meant. */
const COLUMN_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  record_id: ['id'],
  entity_id: ['id'],
  uuid: ['id'],
  key: ['id'],
  pk: ['id'],
  change_id: ['seq'],
  created: ['created_at', 'at'],
  inserted_at: ['created_at', 'at'],
  modified: ['updated_at', 'at'],
  modified_at: ['updated_at', 'at'],
  last_modified: ['updated_at', 'at'],
  changed_at: ['at', 'updated_at'],
  timestamp: ['at', 'updated_at'],
  revision: ['version'],
  actor: ['actor_name'],
  changed_by: ['actor_name'],
  user_name: ['actor_name'],
  tool: ['call'],
  action: ['operation'],
  op: ['operation'],
  table_name: ['record_type', 'kind'],
  type: ['rel_type', 'record_type'],
  relationship_type: ['rel_type'],
  source: ['source_id'],
  from_id: ['source_id'],
  source_type: ['source_record_type'],
  target: ['target_id'],
  to_id: ['target_id'],
  target_type: ['target_record_type'],
  before: ['data_before'],
  old_data: ['data_before'],
  previous_data: ['data_before'],
  after: ['data'],
  new_data: ['data'],
  diff: ['changed'],
}

/** The field that is meant by the name that another system gives it. */
export const meantField = (name: string, allowed: readonly string[]): string | undefined =>
  synonymAmong(FIELD_SYNONYMS, name, allowed)

/** The same for a column of SQL. */
export const meantColumn = (name: string, allowed: readonly string[]): string | undefined =>
  synonymAmong(COLUMN_SYNONYMS, name.toLowerCase(), allowed)

function synonymAmong(
  synonyms: Readonly<Record<string, readonly string[]>>,
  name: string,
  allowed: readonly string[],
): string | undefined {
  return own(synonyms, name)?.find((each) => allowed.includes(each))
}

/** The detail fields for an unknown name: received value, allowed values, and the nearest match as a hint. */
export function unknownName(name: string, known: readonly string[]) {
  const hint = nearest(name, known)
  return { received: name.slice(0, 64), allowed: known.slice(0, 50), ...(hint && { hint }) }
}

/**
 * Whether two words differ by one edit: a deletion, insertion, substitution or transposition
 * (Damerau-Levenshtein distance 1).
 */
export function isClose(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  const away = distance(one, other)
  return away <= 1 || (away === 2 && letters(one) === letters(other))
}

const letters = (word: string): string => [...word].sort().join('')

/** Whether a name has the words of another but some in the middle: `source_type` for `source_record_type`. */
export function isShortFor(name: string, other: string): boolean {
  const [words, all] = [name.split('_'), other.split('_')]
  const hasEnds = words[0] === all[0] && words.at(-1) === all.at(-1)
  return words.length > 1 && words.length < all.length && hasEnds && words.every((word) => all.includes(word))
}
