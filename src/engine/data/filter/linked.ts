/** Conditions on linked records, in the filter language: a group `some` or `none`, or a path before a field. */
import { isTypeId } from '../../../contract/ids.ts'
import { COLUMNS } from '../../../contract/record-columns.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { withoutNegatedOperators } from './negated-operators.ts'
import type { Condition, Filter, LinkStep } from './syntax-tree.ts'

/** The steps before a field, such as `customer.data.tier` or `~customer.created_at`; null if there are none. */
export function readPath(name: unknown): { steps: readonly LinkStep[]; field: string } | null {
  if (typeof name !== 'string' || name.length > LIMITS.fieldChars) return null
  const steps: LinkStep[] = []
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

/** A condition at the end of a path. As for the elements of a list, it holds if it does for some linked record. */
export const alongPath = (condition: Condition, step: (of: Filter) => Filter): Filter =>
  withoutNegatedOperators<Filter>(condition, {
    test: (op, value) => step({ ...condition, op, value }),
    not: (of) => ({ kind: 'not', of }),
    either: (one, other) => ({ kind: 'or', of: [one, other] }),
  })

export const linksUnavailable = (at: string): DomainError =>
  invalid({
    path: at,
    code: 'not_available',
    message:
      'Conditions on linked records are not available here, only in lists, aggregates, claims and related records of the present. Test fields of the record itself.',
  })
