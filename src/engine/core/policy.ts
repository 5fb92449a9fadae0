import type { RunAs } from '../../contract/endpoint-shapes.ts'
import type { BoundFilter } from '../data/filter/syntax-tree.ts'
import type { Access } from '../storage/access/access.ts'

/** Row and field policy of a type, as configured. Omitted parts do not restrict. */
export type PolicyInput = {
  recordType: string
  /** Row filter, in the filter language. May refer to hidden fields. It follows what the schema `renamedIn` renamed. */
  filter?: unknown
  renamedIn?: unknown
  /** What a record must match after a write: `filter` if omitted, nothing if empty. */
  writeFilter?: unknown
  /** Visible properties, as `data.x`. */
  fields?: readonly string[] | null | undefined
  /** Values for properties that a new record omits. */
  defaults?: Readonly<Record<string, unknown>> | null | undefined
  /** Whether the attachments of the records are in reach. */
  attachments?: boolean
}

/** Compiled row and field policy of one record type. */
export type TypePolicy = {
  readonly filter: BoundFilter | null
  /** What a record must match after a write. */
  readonly writeFilter: BoundFilter | null
  /** Visible properties of `data`; null for all. */
  readonly visible: readonly string[] | null
  readonly defaults: Readonly<Record<string, unknown>>
  readonly attachments: boolean
}

/** An action at an endpoint. */
type ReachedAction = {
  readonly id: string
  readonly runAs: RunAs
  /** The rights and the policy of queries whose record type is a template. They include what the endpoint lists. */
  readonly listing: { readonly access: Access; readonly policy: ScopePolicy }
}

/** The policy that a scope is restricted to, for one base. */
export type ScopePolicy = {
  readonly baseId: string
  /** Types with a policy. Other types within the grants are unrestricted. */
  readonly types: ReadonlyMap<string, TypePolicy>
  /**
   * The token's rights on all types, for code that applies the policies. `scope.access` has only the
   * unrestricted types.
   */
  readonly access: Access
  /** The action that the scope may run, although it has no rights on the base as a whole. */
  readonly action?: ReachedAction
  /** Identifies the policy, so that responses are not shared between policies. */
  readonly name: string
}
