/** The closed syntax tree of a filter, with what binding adds to it. */
import type { Operator } from '../../../contract/operators.ts'
import type { Column } from '../../../contract/record-columns.ts'
import type { DomainError } from '../../../foundation/errors.ts'
import type { Field } from '../../schema/compiled-types/field-path.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import type { FieldContext } from './operand.ts'
import type { Parameters } from './parameters.ts'

/**
 * A parsed condition on one field. `at` is its JSON Pointer in the request; `value` is valid for the
 * operator.
 */
export type Condition<C extends string = Column> = {
  kind: 'condition'
  /** The field name as written. */
  name: string
  field: Field<C>
  op: Operator
  value: unknown
  at: string
  /**
   * Set for a row policy rather than a caller's filter: it may name hidden fields and does not affect the
   * score.
   */
  trusted?: true
}
/** The AST of a filter. */
export type Filter<C extends string = Column> =
  | { kind: 'and' | 'or'; of: readonly Filter<C>[] }
  | { kind: 'not'; of: Filter<C> }
  | Linked
  | Condition<C>

/** A step along a relationship type: to its target, or, if incoming, to its source. */
export type LinkStep = { relType: string; incoming: boolean }

/** Some record linked by the relationship type matches `of`; with null, there is a link. */
export type Linked = LinkStep & {
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

declare const bound: unique symbol

/**
 * A filter whose fields were checked against the record type. Plans and statements accept only this type, so
 * the compiler rejects an unchecked filter.
 */
export type BoundFilter<C extends string = Column> = Filter<C> & { readonly [bound]: true }
/** A sort whose fields were checked in the same way. */
export type BoundSort<T extends SortTerm> = readonly T[] & { readonly [bound]: true }

export type SortTerm = { readonly field: { readonly kind: string }; readonly at: string }
