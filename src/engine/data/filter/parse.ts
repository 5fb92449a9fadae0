/** The filter language: parses JSON into a closed syntax tree. */

import { isTypeId } from '../../../contract/ids.ts'
import {
  isOperator,
  OPERATOR_NAMES,
  type Operator,
  operatorsFor,
  type ValueType,
} from '../../../contract/operators.ts'
import { COLUMN_TYPES, type Column, FILTER_COLUMNS } from '../../../contract/record-columns.ts'
import { nearest } from '../../../contract/suggest.ts'
import { correctFilter, FORM } from '../../../dialects/correct.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Field, parseField, readField } from '../../schema/compiled-types/field-path.ts'
import { alongPath, readPath } from './linked.ts'
import type { Condition, Filter, Linked } from './syntax-tree.ts'
import { checkValue } from './value.ts'

/** Resolves field names: of a record or of another row source, with the types of its columns. */
export type Fields<C extends string> = {
  read: (name: unknown, at: string) => Field<C>
  types: Readonly<Record<C, ValueType>>
}

/** Groups of conditions on linked records, of records alone. */
const LINKED_GROUPS = ['some', 'none'] as const
const RECORD_FIELDS: Fields<Column> = { read: parseField, types: COLUMN_TYPES }
/** Of records as they are now: past states do not say whether the schema admits them. */
export const PRESENT_FIELDS: Fields<Column> = {
  read: (name, at) => readField(name, at, FILTER_COLUMNS),
  types: COLUMN_TYPES,
}

/**
 * Parses a filter: a condition `{ field, op, value }`, or a group `{ and: [] }`, `{ or: [] }`, `{ not: {} }`. A filter
 * of records may have groups on linked records: `{ some: { rel_type, direction, record_type, filter } }`, and `none`.
 * @throws VALIDATION_ERROR at the JSON Pointer of the fault, below `at`, with a corrected filter if one is
 * known
 */
export function parseFilter(raw: unknown, at: string): Filter
export function parseFilter<C extends string>(raw: unknown, at: string, fields: Fields<C>): Filter<C>
export function parseFilter(
  raw: unknown,
  at: string,
  fields: Fields<string> = RECORD_FIELDS,
): Filter<string> {
  const budget = { conditions: 0, patternChars: 0, links: 0 }
  const isOfRecords = fields === RECORD_FIELDS || fields === PRESENT_FIELDS
  const read = (node: unknown, here: string, depth: number): Filter<string> => {
    if (!isObject(node) || Object.keys(node).length === 0)
      throw fault(
        here,
        'type',
        'A filter must be {"field","op","value"}, {"and":[…]}, {"or":[…]} or {"not":{…}}.',
      )
    const group = (['and', 'or', 'not'] as const).find((name) => Object.hasOwn(node, name))
    const linked = isOfRecords ? LINKED_GROUPS.find((name) => Object.hasOwn(node, name)) : undefined
    if (!group && !linked)
      return isOfRecords
        ? readOfRecord(node, here, budget, fields)
        : readCondition(node, here, budget, fields)
    checkKeys(node, [group ?? linked ?? ''], here)
    if (depth >= LIMITS.filterDepth)
      throw fault(
        here,
        'too_deep',
        `Groups can be nested at most ${LIMITS.filterDepth} levels deep. Flatten the filter.`,
      )
    if (linked) {
      const below = `${here}/${linked}`
      const some = readLinked(
        node[linked],
        below,
        budget,
        (of) => read(of, `${below}/filter`, depth + 1) as Filter,
      )
      return linked === 'some' ? some : { kind: 'not', of: some }
    }
    if (!group) throw new Error('Unreachable')
    const of = node[group]
    if (group === 'not') return { kind: 'not', of: read(of, `${here}/not`, depth + 1) }
    if (!Array.isArray(of) || of.length === 0)
      throw fault(`${here}/${group}`, 'type', `"${group}" takes a list of at least one filter.`)
    return { kind: group, of: of.map((each, index) => read(each, `${here}/${group}/${index}`, depth + 1)) }
  }
  try {
    return read(raw, at, 0)
  } catch (thrown) {
    // Corrections apply to record fields only.
    throw isOfRecords ? corrected(thrown, raw) : thrown
  }
}

/** Adds a corrected filter, ready to send, to the error. */
function corrected(thrown: unknown, raw: unknown): unknown {
  if (!(thrown instanceof DomainError) || thrown.code !== 'VALIDATION_ERROR') return thrown
  const correction = correctFilter(raw)
  const [first, ...rest] = thrown.details
  const hint = JSON.stringify(correction) ?? (typeof raw === 'string' ? FORM : undefined)
  if (hint === undefined || !first) return thrown
  const advice = first.code === 'unknown_key' ? ' Use the form in hint.' : ''
  return invalid({ ...first, message: first.message + advice, hint }, ...rest)
}

function readCondition(
  node: Record<string, unknown>,
  at: string,
  budget: Budget,
  fields: Fields<string>,
): Condition<string> {
  if (++budget.conditions > LIMITS.filterConditions)
    throw fault(
      at,
      'too_many',
      `A filter can have at most ${LIMITS.filterConditions} conditions. Send fewer.`,
    )
  checkKeys(node, ['field', 'op', 'value'], at)
  for (const key of ['field', 'op'])
    if (!Object.hasOwn(node, key)) throw fault(`${at}/${key}`, 'required', `A condition needs "${key}".`)
  const { op } = node
  if (!isOperator(op)) throw unknownOperator(op, at)
  const field = fields.read(node['field'], `${at}/field`)
  checkOperator(field, op, fields, node['field'], at)
  const value = checkValue(op, node, at)
  if (op === 'like' || op === 'ilike') checkPatternBudget(budget, String(value), at)
  return { kind: 'condition', name: String(node['field']), field, op, value, at }
}

/** A condition on the record, or on records at the end of a path of relationship types. */
function readOfRecord(
  node: Record<string, unknown>,
  at: string,
  budget: Budget,
  fields: Fields<string>,
): Filter {
  const path = readPath(node['field'])
  const condition = readCondition(path ? { ...node, field: path.field } : node, at, budget, fields)
  if (!path) return condition as Condition
  const otherwise = notOwn(node['field'], `${at}/field`)
  const whole = { ...(condition as Condition), name: String(node['field']) }
  return alongPath(whole, (inner) =>
    path.steps.reduceRight<Filter>((of, step): Filter => {
      countLink(budget, at)
      return { kind: 'linked', ...step, recordType: null, of, at, otherwise }
    }, inner),
  )
}

/** The error of a name that is no field of the record itself. */
function notOwn(name: unknown, at: string): DomainError {
  try {
    parseField(name, at)
  } catch (thrown) {
    if (thrown instanceof DomainError) return thrown
    throw thrown
  }
  throw new Error(`${String(name)} is a field`)
}

function readLinked(node: unknown, at: string, budget: Budget, readFilter: (of: unknown) => Filter): Linked {
  if (!isObject(node))
    throw fault(
      at,
      'type',
      'The group must be an object. Send {"rel_type", "direction", "record_type", "filter"}.',
    )
  checkKeys(node, ['rel_type', 'direction', 'record_type', 'filter'], at)
  const { rel_type: relType, direction = 'outgoing', record_type: recordType = null, filter = null } = node
  if (!isTypeId(relType as string) || typeof relType !== 'string')
    throw fault(`${at}/rel_type`, 'required', '"rel_type" must be the id of a relationship type.')
  if (recordType !== null && (typeof recordType !== 'string' || !isTypeId(recordType)))
    throw fault(`${at}/record_type`, 'type', '"record_type" must be the id of a record type.')
  if (direction !== 'outgoing' && direction !== 'incoming')
    throw fault(`${at}/direction`, 'enum', '"direction" must be "outgoing" or "incoming".', {
      received: typeof direction === 'string' ? direction.slice(0, 32) : direction,
      allowed: ['outgoing', 'incoming'],
    })
  countLink(budget, at)
  const of = filter === null ? null : readFilter(filter)
  return { kind: 'linked', relType, incoming: direction === 'incoming', recordType, of, at }
}

function countLink(budget: Budget, at: string): void {
  if (++budget.links <= LIMITS.filterLinks) return
  throw fault(
    at,
    'too_many',
    `A filter can follow relationships at most ${LIMITS.filterLinks} times. Send fewer such conditions, or one "some" with all conditions on a linked record.`,
    { expected: LIMITS.filterLinks },
  )
}

/** Size limits of a filter. */
type Budget = { conditions: number; patternChars: number; links: number }

function checkPatternBudget(budget: Budget, pattern: string, at: string): void {
  budget.patternChars += pattern.length
  if (budget.patternChars <= LIMITS.filterPatternChars) return
  throw fault(
    `${at}/value`,
    'too_long',
    `The patterns of a filter can have at most ${LIMITS.filterPatternChars} characters in total. To find words, use "search".`,
    { expected: LIMITS.filterPatternChars },
  )
}

/** A column has one type, so an operator of another type is a validation error. */
function checkOperator(
  field: Field<string>,
  op: Operator,
  { types }: Fields<string>,
  name: unknown,
  at: string,
): void {
  const type = field.kind === 'column' ? types[field.column] : undefined
  const allowed = type && operatorsFor(type)
  if (!allowed || allowed.includes(op)) return
  throw fault(`${at}/op`, 'operator_mismatch', `"${op}" cannot be used on "${String(name)}".`, {
    received: op,
    allowed,
  })
}

function unknownOperator(op: unknown, at: string): DomainError {
  const received = typeof op === 'string' ? op.slice(0, 32) : op
  const written = String(JSON.stringify(received)).slice(0, 64)
  const hint = typeof op === 'string' ? nearest(op.toLowerCase(), OPERATOR_NAMES) : undefined
  return fault(`${at}/op`, 'unknown_operator', `${written} is not an operator.`, {
    received,
    allowed: OPERATOR_NAMES,
    ...(hint && { hint }),
  })
}

function checkKeys(node: Record<string, unknown>, allowed: readonly string[], at: string): void {
  const unknown = Object.keys(node).find((key) => !allowed.includes(key))
  if (unknown === undefined) return
  const hint = nearest(unknown, allowed)
  throw fault(
    `${at}/${unknown.slice(0, 64)}`,
    'unknown_key',
    `A filter has no key "${unknown.slice(0, 64)}" here.`,
    { allowed, ...(hint && { hint }) },
  )
}

const fault = (path: string, code: string, message: string, extra: Partial<Detail> = {}): DomainError =>
  invalid({ path, code, message, ...extra })
