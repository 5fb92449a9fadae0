/** Conditions on linked records, in the filter language: a group `some` or `none`, or a path before a field. */
import { isTypeId } from '../../../contract/ids.ts'
import { FILTER_COLUMNS } from '../../../contract/record-columns.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { compileFilter, type FilterOperands } from './compile.ts'
import { withoutNegatedOperators } from './negated-operators.ts'
import type { Parameters } from './parameters.ts'
import { recordOperands } from './record-operands.ts'
import { searchIn } from './search-condition.ts'
import type { BoundFilter, Condition, Filter, Linked, LinkedEnd, LinkStep } from './syntax-tree.ts'

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
  (FILTER_COLUMNS as readonly string[]).includes(text) || /^data(?:$|[.[])/.test(text)

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

/**
 * Compiles conditions on the records that are linked with `plinth.record AS r`. The fences and lateral joins force
 * index look-ups in any plan: the links of a record by (row, type), a linked record by its row number.
 */
export const linkedIn =
  (parameters: Parameters) =>
  ({ relType, incoming, of, end }: Linked): string => {
    if (!end) throw new Error(`Relationship type ${relType} was not looked up`)
    const [near, far] = incoming ? ['target', 'source'] : ['source', 'target']
    const { recordType, readable } = end
    const conditions = [`${near}_row = n.near`, `rel_type = ${parameters.add(relType)}`]
    if (recordType !== null) conditions.push(`${far}_record_type = ${parameters.add(recordType)}`)
    if (readable) conditions.push(`${far}_record_type = ANY (${parameters.add(readable)}::text[])`)
    const links = `SELECT ${far}_row AS far FROM plinth.relationship WHERE ${conditions.join(' AND ')} OFFSET 0`
    // A first item of FROM that is not lateral sees the record outside.
    const from = `(SELECT r.row_no AS near OFFSET 0) n, LATERAL (${links}) l`
    const tests = testsOf(of as BoundFilter | null, end, parameters)
    if (tests.length === 0) return `EXISTS (SELECT FROM ${from})`
    return `EXISTS (SELECT FROM ${from}, LATERAL (SELECT * FROM plinth.record WHERE row_no = l.far LIMIT 1) r
      WHERE ${tests.join(' AND ')})`
  }

/** The conditions on the linked record: the filter, and the row policy. */
function testsOf(of: BoundFilter | null, end: LinkedEnd, parameters: Parameters): string[] {
  const { baseId, type, policy, within } = end
  // Searches of linked records do not add to the score.
  const search = searchIn(baseId, type, parameters, () => {})
  const operands: FilterOperands = {
    ...recordOperands(type, parameters, search),
    linked: linkedIn(parameters),
  }
  const filters = [policy, of].filter((each) => each !== null)
  return [...(within ? [within(parameters)] : []), ...filters.map((each) => compileFilter(each, operands))]
}
