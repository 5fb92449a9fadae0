import type { Operator } from '../../../contract/operators.ts'
import { isStatus, STATUSES } from '../../../contract/record-columns.ts'
import { invalid } from '../../../foundation/errors.ts'
import { hasOwnProperties, ownProperty } from '../../schema/json-schema/fields.ts'
import type { FieldContext } from './operand.ts'
import type { Condition } from './syntax-tree.ts'

/** The status of a record, or of the record before a change. */
const OWN_STATUS = /^(|previous\.)status$/

/**
 * Refuses to compare the own status of a record with a value that it never has. Such a condition looks for a
 * property of the same name, and would find nothing.
 * @throws VALIDATION_ERROR with the condition on `data.status`, if the type has it
 */
export function checkStatus<C extends string>(
  { field, op, value, at }: Condition<C>,
  { jsonSchema, visible }: FieldContext,
): void {
  const before = field.kind === 'column' ? OWN_STATUS.exec(field.column)?.[1] : undefined
  if (before === undefined || canHold(op, value)) return
  const isDeclared = ownProperty(jsonSchema, 'status') !== undefined || !hasOwnProperties(jsonSchema)
  const isShown = !visible || visible.includes('status')
  const hint = JSON.stringify({ field: `${before}data.status`, op, value })
  const meant = isDeclared && isShown
  throw invalid({
    path: at,
    code: 'no_such_status',
    message: `"${before}status" is the own status of a record, ${STATUSES.join(' or ')}, and never this value.${meant ? ` The property of its data is "${before}data.status".` : ''}`,
    allowed: STATUSES,
    ...(typeof value === 'string' && { received: value.slice(0, 64) }),
    ...(meant && { hint }),
  })
}

/** Whether the status of some record can meet the condition. */
function canHold(op: Operator, value: unknown): boolean {
  switch (op) {
    case 'is_null':
    case 'is_not_null':
      return true
    case 'in':
    case 'not_in':
      return (value as unknown[]).every((each) => each === null || isStatus(each))
    case 'like':
      return STATUSES.some((status) => isLike(status, String(value)))
    case 'ilike':
      return STATUSES.some((status) => isLike(status, String(value).toLowerCase()))
    case 'starts_with':
      return STATUSES.some((status) => status.startsWith(String(value)))
    case 'search':
      return isStatus(String(value).trim().toLowerCase())
    default:
      return value === null || isStatus(value)
  }
}

/** Matches a LIKE pattern by the reachable positions in the text, in time linear in both. */
function isLike(text: string, pattern: string): boolean {
  let ends = new Set([0])
  for (const [token, escaped] of pattern.matchAll(/\\(.)|./gsu)) {
    const next = new Set<number>()
    for (const end of ends)
      if (token === '%') for (let to = end; to <= text.length; to++) next.add(to)
      else if (end < text.length && (token === '_' || text[end] === (escaped ?? token))) next.add(end + 1)
    ends = next
  }
  return ends.has(text.length)
}
