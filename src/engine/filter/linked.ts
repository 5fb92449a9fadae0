/** Conditions on linked records, in the filter language: a group `some` or `none`, or a path before a field. */
import { isTypeId } from '../../contract/ids.ts'
import { COLUMNS, type Column } from '../../contract/record-columns.ts'
import { type DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import type { BoundFilter } from './bind.ts'
import type { FieldContext } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition, Filter } from './parse.ts'

/** A step along a relationship type: to its target, or, if incoming, to its source. */
type Step = { relType: string; incoming: boolean }

/** Some record linked by the relationship type matches `of`; with null, there is a link. */
export type Linked = Step & {
  kind: 'linked'
  /** The record type at the far end, if the filter names one. */
  recordType: string | null
  of: Filter<Column> | null
  /** The JSON Pointer of the group, or of the condition that names the path. */
  at: string
  /** The error of the field name, where the condition is one on a path: it may be no path. */
  otherwise?: DomainError
  /** What it leads to. Without it, the names were not looked up, and the filter cannot be bound. */
  end?: LinkedEnd
}

/** What is at the far end of a link, within the rights of the caller. */
export type LinkedEnd = {
  baseId: string
  /** The only record type; null for any of `readable`. */
  recordType: string | null
  /** Record types that the caller may read; null for all. */
  readable: readonly string[] | null
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  /** The row policy of the only record type. */
  policy: BoundFilter | null
  /** The row policies of all record types, as a condition on `r`. */
  within: ((parameters: Parameters) => string) | null
}

/** The steps before a field, such as `customer.data.tier` or `~customer.created_at`; null if there are none. */
export function readPath(name: unknown): { steps: readonly Step[]; field: string } | null {
  if (typeof name !== 'string' || name.length > LIMITS.fieldChars) return null
  const steps: Step[] = []
  let field = name
  while (!isField(field)) {
    const dot = field.indexOf('.')
    const relType = field.slice(field.startsWith('~') ? 1 : 0, Math.max(dot, 0))
    if (!isTypeId(relType) || steps.length === LIMITS.expandLevels) return null
    steps.push({ relType, incoming: field.startsWith('~') })
    field = field.slice(dot + 1)
  }
  return steps.length > 0 ? { steps, field } : null
}

const isField = (text: string): boolean =>
  (COLUMNS as readonly string[]).includes(text) || /^data(?:$|[.[])/.test(text)

/**
 * A condition at the end of a path. As for the elements of a list, it holds if it does for some linked record, and
 * `neq`, `not_in` and `is_null` are the negations of `eq`, `in` and `is_not_null`.
 */
export function alongPath(condition: Condition, step: (of: Filter) => Filter): Filter {
  const { op, value } = condition
  const some = (how: Partial<Condition>): Filter => step({ ...condition, ...how } as Condition)
  const not = (of: Filter): Filter => ({ kind: 'not', of })
  const isNull = () => not(some({ op: 'is_not_null', value: undefined }))
  const equals = () => (value === null ? isNull() : some({ op: 'eq' }))
  const isIn = (): Filter => {
    const values = value as unknown[]
    if (!values.includes(null)) return some({ op: 'in' })
    const others = values.filter((each) => each !== null)
    return { kind: 'or', of: [isNull(), some({ op: 'in', value: others })] }
  }
  switch (op) {
    case 'eq':
      return equals()
    case 'neq':
      return not(equals())
    case 'in':
      return isIn()
    case 'not_in':
      return not(isIn())
    case 'is_null':
      return isNull()
    default:
      return some({})
  }
}

export const linksUnavailable = (at: string): DomainError =>
  invalid({
    path: at,
    code: 'not_available',
    message:
      'Conditions on linked records are not available here, only in lists, aggregates, claims and related records of the present. Test fields of the record itself.',
  })
