import type { z } from 'zod'
import type { Camel } from '../../../contract/field-names.ts'
import type { Detail } from '../../../foundation/errors.ts'
import type { ResourceKind } from '../../core/append-change.ts'
import type { Topic } from '../../core/caches.ts'
import type { Scope } from '../../core/scope.ts'
import type { Db } from '../../database/client.ts'
import type { Expectation } from '../../write/preconditions.ts'
import type { WriteScope } from '../../write/write.ts'

/**
 * A kind of configuration: all that its life (`lifecycle.ts`) needs to know of it. Hooks are methods, so that kinds of
 * different fields stand in one list.
 */
export type Kind<F extends object = object, R extends Stored = Stored> = {
  /** Its name in the change log, which is the name of its table. */
  readonly name: ResourceKind
  /** With its article: "a toolset". */
  readonly label: string
  /** The codes of details: of the 404, and of the 400 where another kind names one that is not there. */
  readonly codes: { readonly notFound: string; readonly unknown?: string }
  /** Its fields as they are sent, in snake_case. */
  readonly body: z.ZodObject
  /** Every field with the value it has when it is left out. */
  defaults(id: string): F
  table(db: Db): Table<R & Record<keyof F, unknown>>
  /** What caches forget when one of them changes. */
  topic?(baseId: string, id: string): Topic
  readonly rights?: Partial<Rights<F>>
  /** The fields in the form they are stored in. */
  normalize?(fields: F): F
  /** The fields of a row, where they are not its columns. */
  fields?(row: R): F
  /** What the log keeps of a row beyond its fields, and surfaces show. */
  logged?(row: R): object
  /** What a caller should know of an update that succeeds. */
  warnings?(before: F, next: F): readonly string[]
  /** What is shown of a row and is no part of what was put. */
  shown?(row: R): object
  /** What the fields name of other kinds: 400 where it is not there. */
  references?(fields: F): readonly Reference[]
  check?(loaded: Loaded, edit: Edit<F, R>): Promise<Checked<R>>
  /** @throws CONFLICT while something needs it; deletes what goes with it */
  beforeDelete?(scope: WriteScope, held: R, options: DeleteOptions): Promise<void>
  /** Written in the same transaction as the row, before its entry in the log. */
  written?(scope: WriteScope, row: R): Promise<void>
  /** The 404, where it can say more than that there is none. */
  missing?(scope: Scope, baseId: string, id: string): Promise<Error>
}

/** What every row of configuration has. */
export type Stored = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The rows of a kind; a model of the ORM is one as it is. */
export type Table<R> = {
  findMany(query: Query): PromiseLike<R[]>
  count(query: { where: object }): PromiseLike<number>
  create(query: { data: never }): PromiseLike<R>
  update(query: { where: never; data: never }): PromiseLike<R>
  delete(query: { where: never }): PromiseLike<unknown>
}
type Query = { where: object; orderBy?: { createdAt?: 'desc'; id?: 'desc' }[]; take?: number; skip?: number }

/** A resource as surfaces show it. */
export type View<F extends object = object> = F & {
  readonly baseId: string
  readonly id: string
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly operation?: 'created' | 'updated' | 'unchanged'
  readonly warnings?: readonly string[]
}

/** Who may do what. Configuration takes a grant on the base as a whole, unless a kind says otherwise. */
export type Rights<F extends object> = {
  /** The condition that rows meet which may be listed. @throws FORBIDDEN */
  list(scope: Scope, baseId: string): object
  /** @throws FORBIDDEN */
  read(scope: Scope, baseId: string, id: string): void
  /** @throws FORBIDDEN */
  manage(scope: Scope, baseId: string, id: string): void
  /** The resource as the token may see it; null when it may not. */
  shown(scope: Scope, view: View<F>): View<F> | null
}

/** Something of another kind that a field names, and where in the body. */
type Reference = {
  readonly kind: Named
  readonly id: string
  readonly at: string
  /** What to send where there is no such thing, beside a PUT of it. */
  readonly instead?: string
}
/** What a kind is called. */
export type Named = Pick<Kind, 'name' | 'label' | 'codes'>

/** The fields of a kind: those of its body, named as in the engine, with none left out. */
export type FieldsOf<Body extends z.ZodObject> = {
  [Name in keyof z.output<Body> & string as Camel<Name>]-?: Exclude<z.output<Body>[Name], undefined>
}

/** How what exists is held to a change: refused, allowed to stay as it is, or repaired by the steps of a migration. */
export type PutOptions = {
  readonly expected: Expectation
  readonly onInvalid?: 'refuse' | 'allow' | 'migrate'
  readonly migration?: unknown
}
export type DeleteOptions = { readonly confirm: string | null; told(): void }

/** A PUT or PATCH about to be written. */
type Edit<F extends object, R> = {
  readonly baseId: string
  readonly id: string
  readonly held: R | null
  readonly before: F | null
  readonly next: F
  /** The fields as they were sent. */
  readonly input: object
  readonly options: PutOptions
}

/** What the check of a kind found, and what is left to do. */
type Checked<R> = {
  /** What is wrong with the fields: 400. */
  readonly faults?: readonly Detail[]
  /** Holds what exists to the fields, or repairs it. @throws CONFLICT */
  existing?(): Promise<void>
  /** Written even if no field changes. */
  readonly isForced?: boolean
  /** Columns beyond the fields. */
  columns?(): object | Promise<object>
  /** Holds what refers to it to the row as written. @throws CONFLICT */
  dependents?(row: R): Promise<void>
}

/** The configuration of a base as a transaction has read and written it: each row is read once, however many changes ask. */
export type Loaded = {
  readonly scope: WriteScope
  readonly baseId: string
  /** Rows by id: those that are named, or all. */
  rows<F extends object, R extends Stored>(
    kind: Kind<F, R>,
    ids?: readonly string[],
  ): Promise<ReadonlyMap<string, R>>
  /** The ids of all rows, in order. */
  ids(kind: Named): Promise<readonly string[]>
  /** What else is read of the base; the same function is asked once. */
  once<T>(read: (scope: WriteScope, baseId: string) => Promise<T>): Promise<T>
  /** Takes in what was written; null for a deletion. */
  wrote(kind: Kind, id: string, row: Stored | null): void
}

export const nounOf = ({ label }: Named): string => label.replace(/^an? /, '')
