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
const FIELD_SYNONYMS: Readonly<Record<string, readonly string[]>> = Object.fromEntries([
  ...called('schema', 'json_schema', 'data_schema'),
  ...called('columns', 'json_schema'),
  ...called('fields properties attributes', 'json_schema', 'data'),
  ...called('values changes record document patch set updates', 'data'),
  ...called('source', 'source_record_types', 'source_record_type', 'id'),
  ...called('from', 'source_record_types', 'source_record_type', 'since'),
  ...called('source_types', 'source_record_types'),
  ...called('target', 'target_record_types', 'target_record_type', 'id'),
  ...called('to', 'target_record_types', 'target_record_type', 'until'),
  ...called('target_types', 'target_record_types'),
  ...called('start', 'since'),
  ...called('end', 'until'),
  ...called('agent author by user who', 'actor'),
  ...called('change change_id', 'seq'),
  ...called('confirm confirmed approve', 'plan_token'),
  ...called('op', 'type', 'fn'),
  ...called('operation', 'type', 'fn', 'action'),
  ...called('action', 'type'),
  ...called('function func', 'fn'),
  ...called('as', 'alias'),
  ...called('column', 'field'),
  ...called('relationship relation', 'rel_type', 'relationship_type'),
  ...called('link_type rel', 'rel_type'),
  ...called('type', 'rel_type', 'record_type'),
  ...called('target_id source_id', 'id'),
  ...called('target_record_type collection table entity', 'record_type'),
  ...called('target_external_id', 'external_id'),
  ...called('ref', 'name'),
  ...called('id claim', 'claim_id'),
  ...called('claims', 'claim_ids'),
  ...called('lease ttl', 'lease_seconds'),
  ...called('timeout_seconds', 'timeout'),
  ...called('cursor', 'after'),
  ...called('at asof timestamp', 'as_of'),
  ...called('message', 'description'),
  ...called('records items rows requests ops', 'operations'),
  ...called('args bindings', 'params'),
])

function called(names: string, ...fields: string[]): (readonly [string, readonly string[]])[] {
  return names.split(' ').map((name) => [name, fields] as const)
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
