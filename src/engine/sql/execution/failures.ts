/** Maps PostgreSQL errors to messages that reveal neither values nor the SQL behind the relations. */
import { advised } from '../../../foundation/advised-requests.ts'
import { DomainError, invalid } from '../../../foundation/errors.ts'
import { noSlot } from '../../storage/database/concurrency-limit.ts'
import { sqlState, unreachable } from '../../storage/database/errors.ts'
import type { Rendered } from '../guard/guard-select.ts'
import { Stopped } from './timeout.ts'

type Words = readonly [code: string, message: string, hint?: string]

const TOO_MUCH: Words = [
  'too_complex',
  'The statement exceeded the memory or temporary space limit.',
  'Filter earlier, read fewer columns, or aggregate in steps.',
]
const UNKNOWN_RELATION: Words = [
  'unknown_relation',
  'The relation or function does not exist. The relations are the record types by their ids, and records, record_types, changes, relationships and relationship_types.',
]
const NUMERIC = "CASE WHEN x ~ '^[0-9]+$' THEN x::bigint END"
const READ_ONLY: Words = [
  'read_only',
  `SQL is read-only here. Write with ${advised('write_sql')} or the batch.`,
]

const NO_CONNECTION_LEFT = '53300'
const BY_STATE: Readonly<Record<string, Words>> = {
  '42501': UNKNOWN_RELATION,
  '42P01': UNKNOWN_RELATION,
  '3F000': UNKNOWN_RELATION,
  '25006': READ_ONLY,
  '22012': ['invalid_value', 'The statement divides by zero.', 'a / nullif(b, 0)'],
  '22003': ['invalid_value', 'A number is out of the range of its type.', 'Cast to numeric first.'],
  '22P02': ['invalid_value', 'A text cannot be read as the type it is cast to.', NUMERIC],
  '22007': ['invalid_value', 'A text is not a date or time of the type it is cast to.'],
  '22008': ['invalid_value', 'A date or time is out of range.'],
  '2201B': ['invalid_value', 'A regular expression is not valid.'],
  '2201W': ['invalid_value', 'LIMIT must not be negative.'],
  '2201X': ['invalid_value', 'OFFSET must not be negative.'],
  '2202E': ['invalid_value', 'An array subscript or bound is not valid.'],
  '22023': ['invalid_value', 'An argument of a function is out of its range.'],
  '21000': [
    'invalid_value',
    'A subquery used as a value returns more than one row.',
    'Add LIMIT 1, or use IN or an aggregate.',
  ],
  '54001': ['too_complex', 'The statement is nested too deeply.'],
  '57014': ['timeout', ''],
  '53200': TOO_MUCH,
  '53400': TOO_MUCH,
}

/**
 * SQLSTATE classes of parse and analysis errors, raised before any row is read: their messages hold only
 * names and types.
 */
const SAYS_ITSELF = /^(42|0A)/
/** Identifiers of the generated part of a statement. */
const OURS = /plinth|base_id|json_schema|pg_catalog/

/** Maps the error of a failed statement to the one that the caller receives. */
export function toFailure(thrown: unknown, timeoutMs: number, slots: Rendered['slots'] = []): unknown {
  if (thrown instanceof DomainError) return thrown
  if (thrown instanceof Stopped) return timedOut(timeoutMs, thrown)
  const state = sqlState(thrown) ?? ''
  if (state === '57014') return timedOut(timeoutMs, thrown)
  if (state === NO_CONNECTION_LEFT) return noSlot('The database has no connection left for SQL.')
  const words = ownWords(state, thrown) ?? BY_STATE[state] ?? ofClass(state)
  if (words) return refused(words, thrown, slots[slotOf(thrown) - 1])
  return unreachable(thrown) ?? thrown
}

/** Maps a failure to get a connection. The statement has not run, so its words would name the wrong cause. */
export function toUnavailable(thrown: unknown): unknown {
  if (thrown instanceof DomainError || sqlState(thrown) === NO_CONNECTION_LEFT) return toFailure(thrown, 0)
  return unreachable(thrown) ?? unavailable(thrown)
}

const unavailable = (cause: unknown) =>
  new DomainError('INTERNAL_ERROR', 'SQL is not available: its role or its connection cannot be made.', {
    cause,
    details: [
      {
        path: '',
        code: 'sql_unavailable',
        message: `Read with ${advised('list_records')} meanwhile. The operator of the server finds the cause in its log.`,
      },
    ],
  })

/** Lists of properties are jsonb, and models write to them as to arrays of PostgreSQL. */
const OF_LISTS: readonly (readonly [RegExp, string])[] = [
  [/^function array_(append|cat|prepend)\(jsonb/, `tags = coalesce(tags, '[]') || '["x"]'`],
  [/^function array_remove\(jsonb/, "tags = tags - 'x'"],
  [
    /^function (unnest|array_length|cardinality|array_position)\(jsonb/,
    'jsonb_array_elements_text(tags), jsonb_array_length(tags)',
  ],
  [/^op ANY\/ALL \(array\) requires array/, `tags @> '["x"]'`],
]
const NOT_JSON: Words = [
  'invalid_value',
  'A text that is read as JSON is not valid JSON. A string in JSON has double quotes.',
  `'"x"', or '["x"]' for a list`,
]

function ownWords(state: string, thrown: unknown): Words | undefined {
  const message = thrown instanceof Error ? thrown.message : ''
  if (state === '22P02' && message.startsWith('invalid input syntax for type json')) return NOT_JSON
  const [, type] = (state === '22P02' && /^invalid input syntax for type ([a-z ]+):/.exec(message)) || []
  if (type !== undefined) return ['invalid_value', `A text cannot be read as ${type}.`, NUMERIC]
  const [, json, to] = /^cannot cast jsonb ([a-z ]+) to type ([a-z ]+)$/.exec(message) ?? []
  if (json !== undefined) return ['invalid_value', `A JSON ${json} cannot be read as ${to}.`]
  if (Object.hasOwn(BY_STATE, state) || !SAYS_ITSELF.test(state) || OURS.test(message)) return undefined
  const [, hint] = OF_LISTS.find(([words]) => words.test(message)) ?? []
  if (hint === undefined) return ['invalid_sql', `PostgreSQL refuses the statement: ${message}.`]
  return ['invalid_sql', `PostgreSQL refuses the statement: ${message}. A list of a record is jsonb.`, hint]
}

function ofClass(state: string): Words | undefined {
  if (state.startsWith('22')) return ['invalid_value', 'A value does not fit the operation it is used in.']
  if (state.startsWith('42') || state.startsWith('0A') || state === '08P01')
    return ['invalid_sql', 'PostgreSQL refuses the statement. Check the types of its columns and parameters.']
  if (state.startsWith('54')) return TOO_MUCH
  return undefined
}

const refused = ([code, words, hint]: Words, cause: unknown, slot?: Rendered['slots'][number]) => {
  const message = slot ? `${words} It is the value of ${slot.name}.` : words
  return new DomainError('VALIDATION_ERROR', message, {
    cause,
    details: [{ path: slot?.path ?? '/query', code, message, ...(hint !== undefined && { hint }) }],
  })
}

/** The number of the bind value that PostgreSQL could not read; 0 for none. */
function slotOf(thrown: unknown): number {
  const where = thrown instanceof Error && 'where' in thrown ? String(thrown.where) : ''
  return Number(/parameter \$(\d+)/.exec(where)?.[1] ?? 0)
}

const timedOut = (timeoutMs: number, cause: unknown) => {
  const { message, details } = invalid({
    path: '/query',
    code: 'timeout',
    message: `The statement took longer than ${timeoutMs} ms. Read fewer rows: filter by an id or a type, aggregate less, or drop a join.`,
    expected: timeoutMs,
  })
  return new DomainError('VALIDATION_ERROR', message, { details, cause })
}
