import type { z } from 'zod'
import type { Need } from '../../graphql/context.ts'

/** A configuration kind on REST. Its GraphQL operations follow from its path and the fields of its answers. */
export type CrudSpec<Q extends z.ZodObject> = {
  tag: string
  /** With its article: "A toolset". */
  label: string
  /** Shape of the fields. */
  body: z.ZodObject
  /** Shape of the whole body; the fields plus `id` and `expected_version` by default. */
  sent?: z.ZodObject
  answers: z.ZodObject
  /** What DELETE removes, if it is more than the label says. */
  removes?: string
  /** Additional query parameters of writes, and their GraphQL variables. */
  writes?: { query: Q; variables: (query: z.output<Q>, body: { readonly migration?: unknown }) => object }
  /** Description of the confirmation parameter of a cascading delete. */
  confirm?: string
  /** Required permissions; a grant on the whole base by default. */
  needs?: { list?: Needs; read?: Needs; write?: Needs }
  /** As that of a route. */
  renamed?: Readonly<Record<string, string>>
}
type Needs = (params: Record<string, string>) => Need
