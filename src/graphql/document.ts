import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../../schema/graphql-env.d.ts'

/** Typed tagged template for operations against the internal schema (gql.tada). */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: { ID: string; JSON: unknown; DateTime: string }
}>()
export type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada'
