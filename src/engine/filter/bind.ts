import type { Column } from '../../contract/record-columns.ts'
import { demandField, type FieldContext } from './operand.ts'
import type { Condition, Filter } from './parse.ts'

declare const bound: unique symbol

/**
 * A filter whose fields were checked against the type that it is run on. Plans and statements take no other, so no way of
 * running a filter can skip the check.
 */
export type BoundFilter<C extends string = Column> = Filter<C> & { readonly [bound]: true }
/** The same of a sort. */
export type BoundSort<T extends Term> = readonly T[] & { readonly [bound]: true }

type Term = { readonly field: { readonly kind: string }; readonly at: string }

/** Checks each field that a filter names. @throws VALIDATION_ERROR for one that the type does not have, or that is hidden */
export function bindFilter<C extends string>(filter: Filter<C>, type: FieldContext): BoundFilter<C> {
  demandFields(filter, type)
  return filter as BoundFilter<C>
}

function demandFields<C extends string>(filter: Filter<C>, type: FieldContext): void {
  if (filter.kind === 'condition') demandCondition(filter, type)
  else if (filter.kind === 'not') demandFields(filter.of, type)
  else for (const each of filter.of) demandFields(each, type)
}

function demandCondition<C extends string>({ field, op, at }: Condition<C>, type: FieldContext): void {
  // A search of `data` where some of it is hidden looks at what is shown.
  const isShownPart = op === 'search' && field.kind === 'data' && field.path.length === 0 && type.shown
  if (field.kind === 'data' && !isShownPart) demandField(field, type, `${at}/field`)
}

/** Checks each field that a sort names. @throws VALIDATION_ERROR */
export function bindSort<T extends Term>(sort: readonly T[], type: FieldContext): BoundSort<T> {
  for (const { field, at } of sort) if (isData(field)) demandField(field, type, at)
  return sort as BoundSort<T>
}

type DataField = Parameters<typeof demandField>[0]
const isData = (field: { readonly kind: string }): field is DataField => field.kind === 'data'

/** A filter that is not the caller's: it may name what is hidden from the caller, and its searches do not rank. */
export const trustedFilter = (filter: Filter): BoundFilter => markTrusted(filter) as BoundFilter

function markTrusted(filter: Filter): Filter {
  if (filter.kind === 'condition') return { ...filter, trusted: true }
  if (filter.kind === 'not') return { kind: 'not', of: markTrusted(filter.of) }
  return { kind: filter.kind, of: filter.of.map(markTrusted) }
}

/** A filter of columns that have names of their own, each of which was found when it was read. */
export const namedFilter = (filter: Filter): BoundFilter => filter as BoundFilter

/** Both hold. */
export const bothFilters = (one: BoundFilter | null, other: BoundFilter | null): BoundFilter | null =>
  one && other ? ({ kind: 'and', of: [one, other] } as unknown as BoundFilter) : (one ?? other)

/** What is left of a bound filter. */
export const restOf = (conditions: readonly Filter[]): BoundFilter | null =>
  conditions.length > 0 ? ({ kind: 'and', of: conditions } as unknown as BoundFilter) : null
