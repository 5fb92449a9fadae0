import type { Access } from '../access/access.ts'
import type { BoundFilter } from '../filter/bind.ts'

/** How a type is bounded, as it is configured. What is left out bounds nothing. */
export type LensInput = {
  recordType: string
  /** Which records there are, in the filter language; may name what is hidden. */
  filter?: unknown
  /** The properties that there are, as `data.x`. */
  fields?: readonly string[] | null | undefined
  /** Properties of a new record that its writer left out. */
  defaults?: Readonly<Record<string, unknown>> | null | undefined
}

/** What may be seen and written of one record type. */
export type TypeLens = {
  readonly filter: BoundFilter | null
  /** The properties of `data` that there are; null for all. */
  readonly shown: readonly string[] | null
  readonly defaults: Readonly<Record<string, unknown>>
}

/** The part of a base that a scope is narrowed to. */
export type Lens = {
  readonly baseId: string
  /** The types that are bounded; others in reach are there whole. */
  readonly types: ReadonlyMap<string, TypeLens>
  /** The token's rights on all types in reach, for what honours their bounds. `scope.access` has those that are whole. */
  readonly access: Access
  /** Names it: no answer through one lens is one through another. */
  readonly name: string
}
