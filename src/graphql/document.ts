import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../../schema/graphql-env.d.ts'

/** Writes an operation against the internal schema; its variables and result are typed from it. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: { ID: string; JSON: unknown; DateTime: string }
}>()
export type { ResultOf, TadaDocumentNode } from 'gql.tada'
