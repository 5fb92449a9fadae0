import { type DocumentNode, Kind } from 'graphql'
import type { z } from 'zod'
import type { CamelFields } from '../../contract/field-names.ts'
import type { DeletionFields, pageBody } from '../../contract/response-bodies.ts'
import type { Need } from '../../graphql/context.ts'
import type { TadaDocumentNode } from '../../graphql/document.ts'

/**
 * A configuration kind on REST. Each kind supplies its own typed GraphQL documents, which alias their results
 * to `page`, `found`, `written` and `gone`.
 */
export type CrudSpec<B extends z.ZodObject, Q extends z.ZodObject> = {
  tag: string
  /** With its article: "A toolset". */
  label: string
  /** Shape of the fields. */
  body: B
  /** Shape of the whole body; the fields plus `id` and `expected_version` by default. */
  sent?: z.ZodObject
  answers: z.ZodType
  list: TadaDocumentNode<{ page: Page<Found<B>> }, Listing>
  get: TadaDocumentNode<{ found: Found<B> }, ResourceKey & { version?: number | null }>
  put: TadaDocumentNode<
    { written: Written<B> & { operation: string | null } },
    Writing<B> & { mustBeAbsent?: boolean | null }
  >
  patch: TadaDocumentNode<{ written: Written<B> }, Patching>
  remove: TadaDocumentNode<{ gone: DeletedView }, ResourceKey & { expectedVersions?: number[] | null }>
  /** What DELETE removes, if it is more than the label says. */
  removes?: string
  /** Additional query parameters of writes, and their GraphQL variables. */
  writes?: { query: Q; variables: (query: z.output<Q>, body: { readonly migration?: unknown }) => object }
  /** Description of the confirmation parameter of a cascading delete. */
  confirm?: string
  /** Required permissions; a grant on the whole base by default. */
  needs?: { list?: Needs; read?: Needs; write?: Needs }
}
type Needs = (params: Record<string, string>) => Need

type Found<B extends z.ZodObject> = Record<
  (keyof z.output<B> & string) | 'id' | 'version' | 'created_at' | 'updated_at',
  unknown
>
type Page<T extends object> = Parameters<typeof pageBody<T>>[0]
type Written<B extends z.ZodObject> = Found<B> & {
  dry_run: boolean | null
  warnings?: string[] | null
  records_rewritten?: number | null
}
type DeletedView = {
  id: string
  deleted: boolean
  dry_run: boolean | null
  deletion?: DeletionFields | null
}
type ResourceKey = { base: string; id: string }
type Listing = {
  base: string
  limit?: number | null
  offset?: number | null
  cursor?: string | null
  includeTotal?: boolean | null
}
type Writing<B extends z.ZodObject> = ResourceKey & {
  input: CamelFields<Sent<z.output<B>>>
  expectedVersions?: number[] | null
  mustExist?: boolean | null
}
type Patching = ResourceKey & {
  merge?: unknown
  operations?: unknown
  expectedVersions?: number[] | null
  mustExist?: boolean | null
}
/** Removes `undefined` from optional members. */
type Sent<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

/**
 * Checks at startup that the document declares all variables, because undeclared ones are silently dropped.
 */
export function assertVariables(document: DocumentNode, names: readonly string[]): void {
  const declared = document.definitions.flatMap((part) =>
    part.kind === Kind.OPERATION_DEFINITION
      ? (part.variableDefinitions ?? []).map(({ variable }) => variable.name.value)
      : [],
  )
  const missing = names.find((name) => !declared.includes(name))
  if (missing !== undefined) throw new Error(`A document of a kind does not declare $${missing}`)
}
