import { linksUnavailable } from './linked.ts'
import { checkField, type FieldContext } from './operand.ts'
import { checkStatus } from './status-condition.ts'
import type { BoundFilter, BoundSort, Condition, Filter, Linked, SortTerm } from './syntax-tree.ts'

/**
 * Checks each field of a filter against the type.
 * @throws VALIDATION_ERROR for an unknown or hidden field
 */
export function bindFilter<C extends string>(filter: Filter<C>, type: FieldContext): BoundFilter<C> {
  checkFields(filter, type)
  return filter as BoundFilter<C>
}

function checkFields<C extends string>(filter: Filter<C>, type: FieldContext): void {
  if (filter.kind === 'condition') checkCondition(filter, type)
  else if (filter.kind === 'linked') checkLinked(filter)
  else if (filter.kind === 'not') checkFields(filter.of, type)
  else for (const each of filter.of) checkFields(each, type)
}

/** @throws VALIDATION_ERROR where linked records were not looked up */
function checkLinked({ of, end, at, otherwise }: Linked): void {
  if (!end) throw otherwise ?? linksUnavailable(at)
  if (of) checkFields(of, end.type)
}

function checkCondition<C extends string>(condition: Condition<C>, type: FieldContext): void {
  const { field, op, at, name } = condition
  checkStatus(condition, type)
  // With hidden fields, a search of `data` covers the visible properties only.
  const isVisiblePart = op === 'search' && field.kind === 'data' && field.path.length === 0 && type.visible
  if (field.kind === 'data' && !isVisiblePart) checkField(field, type, `${at}/field`, name)
}

/**
 * Checks each field of a sort against the type.
 * @throws VALIDATION_ERROR
 */
export function bindSort<T extends SortTerm>(sort: readonly T[], type: FieldContext): BoundSort<T> {
  for (const { field, at } of sort) if (isData(field)) checkField(field, type, at)
  return sort as BoundSort<T>
}

type DataField = Parameters<typeof checkField>[0]
const isData = (field: { readonly kind: string }): field is DataField => field.kind === 'data'

/**
 * A trusted filter, such as a row policy: it may name hidden fields, and its searches do not affect the
 * score.
 */
export const trustedFilter = (filter: Filter): BoundFilter => markTrusted(filter) as BoundFilter

function markTrusted(filter: Filter): Filter {
  if (filter.kind === 'condition') return { ...filter, trusted: true }
  if (filter.kind === 'linked') throw linksUnavailable(filter.at)
  if (filter.kind === 'not') return { kind: 'not', of: markTrusted(filter.of) }
  return { kind: filter.kind, of: filter.of.map(markTrusted) }
}

/** A filter over named columns that were already resolved during parsing. */
export const namedFilter = <C extends string>(filter: Filter<C>): BoundFilter<C> => filter as BoundFilter<C>

/** The conjunction of two filters. */
export const bothFilters = (one: BoundFilter | null, other: BoundFilter | null): BoundFilter | null =>
  one && other ? ({ kind: 'and', of: [one, other] } as unknown as BoundFilter) : (one ?? other)

/** The conjunction of the remaining conditions of a bound filter. */
export const restOf = (conditions: readonly Filter[]): BoundFilter | null =>
  conditions.length > 0 ? ({ kind: 'and', of: conditions } as unknown as BoundFilter) : null
