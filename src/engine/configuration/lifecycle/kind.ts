/** What a kind of configuration is: a row of body, table, checks and rights. */
import type { z } from 'zod'
import type { Camel } from '../../../contract/field-names.ts'
import type { Detail, DomainError } from '../../../foundation/errors.ts'
import type { ResourceKind } from '../../core/append-change.ts'
import type { Topic } from '../../core/cache-notices.ts'
import type { Scope } from '../../core/scope.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Db } from '../../storage/database/client.ts'

/**
 * Descriptor of a kind of configuration, used by the generic `lifecycle.ts`. Hooks are methods, because
 * method parameters are bivariant: one list can hold kinds with different fields.
 */
export type Kind<F extends object = object, R extends Stored = Stored> = {
  /** Name in the change log and of the table. */
  readonly name: ResourceKind
  /** Label with its article: "a toolset". */
  readonly label: string
  /** Detail codes: for the 404, and for the 400 when another kind references an absent one. */
  readonly codes: { readonly notFound: string; readonly unknown?: string }
  /** Schema of the request body, in snake_case. */
  readonly body: z.ZodObject
  /** The rule of its ids, if it is not that of types. */
  readonly ids?: { isValid(id: string): boolean; readonly rule: string }
  /** Default values of all fields. */
  defaults(id: string): F
  /**
   * Fields with a secret, which has null as default, and how to make a new one. `secrets.ts` hides them in
   * config files, history and diffs; a preview and a promoted resource get new ones.
   */
  readonly secrets?: { readonly [Name in keyof F]?: () => string }
  table(db: Db): Table<R & Record<keyof F, unknown>>
  readonly rights?: Partial<Rights<F>>
  /** Record type whose `manage` grant allows a change. Otherwise, the grant must be on the whole base. */
  managedAs?(id: string): string
  /** With its id in `confirm`, it is deleted though it is in use. */
  readonly takesConfirm?: true
  /** It is changed in previews only, and reaches production by a promotion. */
  readonly isPreviewOnly?: true
  /** Normalizes the fields for storage. */
  normalize?(fields: F): F
  /** Reads the fields of a row, if they are not its columns. */
  fields?(row: R): F
  /** Additional parts of a row that are logged and returned. */
  logged?(row: R): object
  /** Changes the sent fields of a change by its options, before they are read. Of a patch, `states` says what it states. */
  sent?(sent: object, before: F, options: PutOptions, states?: States): object
  /** Warnings about a successful write; `before` is null when it creates. */
  warnings?(before: F | null, next: F, options: PutOptions): readonly string[]
  /** Parts of a row that are returned but cannot be set. */
  shown?(row: R): object
  /** References to other kinds. An absent target is a 400, and a target is not deleted while one refers to it. */
  references?(fields: F): readonly Reference[]
  /** Reads what the checks of several changes need, together. */
  preload?(loaded: Loaded, nexts: readonly F[]): Promise<unknown>
  check?(loaded: Loaded, edit: Edit<F, R>): Promise<Checked>
  /**
   * Checks what the base holds against changes, or against deletions. Takes no lock that writers wait for. Returns
   * in the same order what it found: then `lockData` looks only at what has been written since.
   */
  checkData?(scope: Scope, baseId: string, checks: readonly DataCheck<F>[]): Promise<readonly Found[]>
  /**
   * Blocks writes of the data that changes concern until the transaction ends, and checks what has been written since
   * `checkData`. Takes the `toLock` of checks.
   */
  lockData?(scope: WriteScope, baseId: string, toLock: readonly object[]): Promise<LockResult>
  /**
   * Blocks writes of the data of resources that are deleted together. Returns the ids of those without data
   * that nothing references: they need no `beforeDelete`.
   */
  lockUnused?(scope: WriteScope, baseId: string, rows: readonly R[]): Promise<ReadonlySet<string>>
  /**
   * Checks and cascades a deletion.
   * @throws CONFLICT while other resources depend on it
   */
  beforeDelete?(scope: WriteScope, current: R, options: DeleteOptions): Promise<void>
  /** Serializes changes and deletions; by default, with all others of the configuration of the base. */
  lock?(scope: WriteScope, baseId: string): Promise<unknown>
  /** The highest version of a row that is deleted and of all that ends with it; by default, its own. */
  lastVersion?(scope: WriteScope, row: R): Promise<number>
  /** What a write invalidates; by default, what is compiled from the resource. */
  topic?(row: R): Topic
  /** The resource has a log of its own, which ends with it: the log of the account has its deletion. */
  readonly hasOwnLog?: true
  /** Fields that are stored in tables of their own. */
  readonly parts?: readonly string[]
  /** The row with its parts as they would be stored, for a trial. */
  withParts?(row: R, current: R | null, parts: object): R
  /** Writes the parts of rows, and returns the rows with them, in the same order. */
  storeParts?(scope: WriteScope, baseId: string, stored: readonly StoredParts<R>[]): Promise<R[]>
  /** Writes what depends on a row, or on several of a promotion, in the same transaction before the log entries. */
  written?(scope: WriteScope, row: R): Promise<void>
  /** Columns that a copy in another base has of its own. */
  copiedColumns?(): object
  /** Copies what belongs to the rows of the kind into another base, after the rows and their records. */
  copyParts?(db: Db, from: string, to: string): Promise<void>
  /** Error for an absent resource, if it can say more than the generic 404. */
  missing?(scope: Scope, baseId: string, id: string): Promise<Error>
}

/** Whether a patch itself sets what is at a path of the body. */
export type States = (path: readonly string[]) => boolean

/** As the value of a column: one more than what is stored. */
export const ONE_MORE = Symbol('one more')

/** Columns that every configuration row has. */
export type Stored = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Storage of a kind. An ORM model satisfies this interface. */
export type Table<R> = {
  findMany(query: Query): PromiseLike<R[]>
  count(query: { where: object }): PromiseLike<number>
  /** Write a row that is more than its columns. Without these, rows are written together. */
  createOne?(query: { data: never }): PromiseLike<R>
  updateOne?(query: { where: never; data: never }): PromiseLike<R>
  deleteMany(query: { where: { baseId: string; id: { in: string[] } } }): PromiseLike<unknown>
}
type Query = { where: object; orderBy?: { createdAt?: 'desc'; id?: 'desc' }[]; take?: number; skip?: number }

/** A resource as returned by all surfaces. */
export type View<F extends object = object> = F & {
  readonly baseId: string
  readonly id: string
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly operation?: 'created' | 'updated' | 'unchanged'
  readonly warnings?: readonly string[]
  /** How many records the migration of this change rewrote. */
  readonly recordsRewritten?: number
}

/** Authorization rules of a kind. The default requires a grant on the base as a whole. */
export type Rights<F extends object> = {
  /**
   * Condition for the rows that the token may list.
   * @throws FORBIDDEN
   */
  list(scope: Scope, baseId: string): object
  /** @throws FORBIDDEN */
  read(scope: Scope, baseId: string, id: string): void
  /** Redacts the resource for the token; null when it may not see it. */
  shown(scope: Scope, view: View<F>): View<F> | null
}

/** A reference to another kind, and its location in the body. */
type Reference = {
  readonly kind: Named
  readonly id: string
  readonly at: string
  /** Alternative to creating the missing target, for the error message. */
  readonly instead?: string
}
/** Name, label and codes of a kind. */
export type Named = Pick<Kind, 'name' | 'label' | 'codes'>

/** Fields of a request body in the engine's naming, all required. */
export type FieldsOf<Body extends z.ZodObject> = {
  [Name in keyof z.output<Body> & string as Camel<Name>]-?: Exclude<z.output<Body>[Name], undefined>
}

/** One resource of a kind, as a request addresses it. */
export type ResourceAddress<F extends object, R extends Stored, S extends Scope = Scope> = {
  readonly kind: Kind<F, R>
  readonly scope: S
  readonly baseId: string
  readonly id: string
}

/** Steps that take records back to a former state, and by the id of a record the change that this reverts. */
type MigrationBack = {
  readonly steps: readonly object[]
  readonly causes: ReadonlyMap<string, number>
}

/** How a change treats existing records and links that violate it: reject, keep, or migrate them. `migration` alone migrates. */
export type PutOptions = {
  readonly expected: Expectation
  readonly onInvalid?: 'refuse' | 'allow' | 'migrate'
  readonly migration?: unknown
  /** The fields are a former state, to be stored as it is, with the records migrated back to it. */
  readonly migrationBack?: MigrationBack
  /** What `checkData` of the kind found before the lock. */
  readonly found?: unknown
  /** It is of an export: others may have been deleted, or changed so that it no longer fits them, as they may later too. */
  readonly leavesReferences?: true
  /** The secret is rotated: the former one stays valid for a day. */
  readonly keepsFormerSecret?: true
}
/** Whether a change migrates records. */
export const migrates = ({ onInvalid, migration }: Pick<PutOptions, 'onInvalid' | 'migration'>): boolean =>
  onInvalid === 'migrate' || (migration ?? null) !== null

export type DeleteOptions = {
  readonly confirm: string | null
  /** What refers to it may stay, and then refers to nothing. Absent: the request cannot ask for that. */
  readonly leavesReferences?: boolean
  /**
   * Compares the summary of the deletion with the approved plan, as soon as the summary is complete.
   * @throws when the plan is missing or differs, which ends the transaction before rows are deleted
   */
  checkPlan(): void
}

/** A row that is written, as it was before (null for a new one), and the parts that its check wants. */
type StoredParts<R> = { readonly row: R; readonly current: R | null; readonly parts: object }

/** A change that what the base holds is checked against; `next` is null for a deletion. */
export type DataCheck<F extends object> = {
  readonly id: string
  readonly before: F
  readonly next: F | null
  /** Steps that would migrate the records first. */
  readonly migration?: unknown
}

/** What a check of data found, or the fault: CONFLICT with count and samples. */
export type Found = {
  readonly found?: unknown
  readonly fault?: DomainError
  /** How many records a migration would rewrite. */
  readonly rewritten?: number
}

/** Ids whose data is checked in full, and faults by id. */
export type LockResult = {
  readonly settled: ReadonlySet<string>
  readonly faults: ReadonlyMap<string, DomainError>
}

/** Context of a PUT or PATCH before it is stored. */
type Edit<F extends object, R> = {
  readonly baseId: string
  readonly id: string
  readonly current: R | null
  readonly before: F | null
  readonly next: F
  /** The fields as sent. */
  readonly input: object
  readonly options: PutOptions
}

/** Result of a kind's check: faults and deferred steps. */
export type Checked = {
  /** Faults of the fields: 400. */
  readonly faults?: readonly Detail[]
  /** What `lockData` of the kind takes; absent if writes may go on. */
  readonly toLock?: object
  /**
   * Validates existing records or links against the fields, or migrates them. `isSettled`: `lockData` has checked them.
   * @throws CONFLICT
   */
  existing?(isSettled: boolean): Promise<void>
  /** What a write says of its effect on the data, after `existing`. */
  effect?(): { readonly recordsRewritten?: number; readonly warnings?: readonly string[] }
  /** What the log entry has beside the row. */
  readonly logged?: object
  /** Store even if no field changes. */
  readonly isForced?: boolean
  /** Columns beyond the fields. */
  columns?(): object | Promise<object>
  /** What `storeParts` of the kind takes. */
  readonly parts?: object
  /**
   * Validates dependent resources against what is stored.
   * @throws CONFLICT
   */
  dependents?(): Promise<void>
}

/** Identity map of a base's configuration within a transaction: each row is read once. */
export type Loaded = {
  readonly scope: WriteScope
  readonly baseId: string
  /** Changes are checked against the configuration and each other, and not stored: the database lacks them. */
  readonly isTrial: boolean
  /** Rows by id: the given ids, or all. */
  rows<F extends object, R extends Stored>(
    kind: Kind<F, R>,
    ids?: readonly string[],
  ): Promise<ReadonlyMap<string, R>>
  /** All ids, in order. */
  ids(kind: Named): Promise<readonly string[]>
  /** Memoizes other reads of the base by function. */
  once<T>(read: (scope: WriteScope, baseId: string) => Promise<T>): Promise<T>
  /** What was written here, by id; null for a deletion. */
  written(kind: Pick<Named, 'name'>): ReadonlyMap<string, Stored | null>
  /** Records a write; null for a deletion. */
  wrote(kind: Kind, id: string, row: Stored | null): void
}

export const nounOf = ({ label }: Named): string => label.replace(/^an? /, '')
