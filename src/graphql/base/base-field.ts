import { type GraphQLFieldConfigMap, GraphQLID, GraphQLNonNull } from 'graphql'
import type { Context } from '../context.ts'

/** A root field that is there even if the token sees no record type: a query type must have one. */
export const baseField = (base: string): GraphQLFieldConfigMap<unknown, Context> => ({
  _base: { type: new GraphQLNonNull(GraphQLID), description: 'The id of the base.', resolve: () => base },
})
