import { OPERATION_SHAPES } from '../../../contract/batch-shapes.ts'
import type { DomainError } from '../../../foundation/errors.ts'
import { KINDS } from '../../configuration/kinds.ts'
import type { Kind, PutOptions } from '../../configuration/lifecycle/kind.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import type { Pair } from '../../data/ledger/record.ts'
import type { RecordLink } from '../index.ts'
import type { Merge } from '../patch.ts'
import type { LinkEnd, LinkWrite } from '../relationships/index.ts'

/** A record id: literal, or a reference to the record of an earlier operation. */
export type Id = string | { readonly ref: number }

type Common = {
  /** Index in the batch, from 0. */
  readonly index: number
  /** Whether a later operation references it. */
  isNamed: boolean
}

export type RecordOperation = Common & { readonly recordType: string } & (
    | {
        readonly type: 'upsert_record'
        readonly id: Id | null
        /** What was sent, with the defaults of the schema once it is validated. */
        write: Content
        sent?: Content
        readonly links: readonly OwnLink[]
        /** Whether a record that exists stays as it is. */
        readonly keeps?: boolean
        readonly expected: Expectation
      }
    | {
        readonly type: 'create_record'
        readonly id: string
        readonly isNewId: boolean
        write: Content
        sent?: Content
        readonly links: readonly OwnLink[]
      }
    | {
        readonly type: 'patch_record'
        readonly id: Id
        readonly merge: Merge
        readonly expected: Expectation
      }
    | { readonly type: 'delete_record'; readonly id: Id; readonly expected: Expectation }
    | { readonly type: 'cancel_record'; readonly id: Id; readonly expected: Expectation }
  )

/** The content of a record write; `text` is `data` as JSON. */
export type Content = { readonly data: unknown; readonly text: string; readonly pair: Pair | null }
/** A nested relationship of a record write, and its other end. */
export type OwnLink = {
  readonly link: RecordLink
  readonly end: LinkEnd
  /** Id of the other end, if it is identified by id. */
  readonly id: Id | null
}

/** A link named by its type and ends. */
export type Ends = {
  readonly relType: string
  readonly source: { readonly recordType: string; readonly id: Id }
  readonly target: { readonly recordType: string; readonly id: Id }
}

export type LinkOperation = Common &
  (
    | {
        readonly type: 'upsert_relationship'
        readonly id: Id | null
        /** The link to write; the id of a referenced end is filled in later. */
        readonly link: LinkWrite
        readonly source: { readonly recordType: string; readonly id: Id }
        readonly target: { readonly recordType: string; readonly id: Id }
      }
    | {
        readonly type: 'delete_relationship'
        /** Null where the ends name the link. */
        readonly id: Id | null
        readonly ends: Ends | null
        readonly expected: Expectation
      }
  )

/** An operation on records or links, not on the configuration. */
export type DataOperation = RecordOperation | LinkOperation

export type ConfigurationOperation = Common & {
  readonly type: ConfigurationName
  readonly kind: Kind
  readonly id: string
  readonly expected: Expectation
} & (
    | { readonly input: object; readonly repair: Omit<PutOptions, 'expected'> }
    | { readonly merge: object; readonly repair: Omit<PutOptions, 'expected'> }
    | { readonly confirm: string | null }
  )

export type Operation = DataOperation | ConfigurationOperation

/** A parsed operation without its index. */
export type Unplaced<T> = T extends unknown ? Omit<T, 'index' | 'isNamed'> : never

/** Names of operations on configuration: `upsert_<kind>` and `delete_<kind>`. */
export type ConfigurationName = `${'upsert' | 'delete'}_${Kind['name']}` & keyof typeof OPERATION_SHAPES

const CONFIGURATION: ReadonlyMap<string, Kind> = new Map(
  KINDS.flatMap((kind) =>
    [`upsert_${kind.name}`, `delete_${kind.name}`].flatMap((type) =>
      Object.hasOwn(OPERATION_SHAPES, type) ? [[type, kind] as const] : [],
    ),
  ),
)

/** The kind of configuration that a raw operation targets, even if it is invalid. */
export const kindOfOperation = (raw: unknown): Kind | undefined => {
  const type = (raw as { type?: unknown } | null)?.type
  return typeof type === 'string' ? CONFIGURATION.get(type) : undefined
}

export const isConfiguration = (operation: Operation): operation is ConfigurationOperation =>
  'kind' in operation

export const isOfRecord = (operation: Operation): operation is RecordOperation => 'recordType' in operation

/** An operation that failed, by its index. */
export type Failure = { readonly index: number; readonly error: DomainError }
