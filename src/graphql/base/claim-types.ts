/** Claims of records, and the claims that a mutation makes. */
import { GraphQLID, GraphQLInt, GraphQLObjectType, type GraphQLResolveInfo, GraphQLString } from 'graphql'
import type { Context } from '../context.ts'
import type { RecordNode } from './node.ts'
import type { SeenType } from './seen.ts'
import { DateTimeScalar, required } from './shared-types.ts'

export const ClaimType = new GraphQLObjectType<object, Context>({
  name: '_Claim',
  description: 'A record that is assigned to this token until the lease ends.',
  fields: {
    id: { type: required(GraphQLID) },
    recordId: { type: required(GraphQLID) },
    status: { type: required(GraphQLString), description: '"active", "completed" or "released".' },
    attempts: { type: required(GraphQLInt), description: 'How often the record has been claimed.' },
    expiresAt: { type: required(DateTimeScalar) },
  },
})

export type ClaimedRecord = {
  readonly claim: object
  /** The record with what is selected of it. */
  read(context: Context, info: GraphQLResolveInfo): Promise<RecordNode | null>
}

export const claimedOf = (
  { name, root }: SeenType,
  object: GraphQLObjectType<RecordNode, Context>,
): GraphQLObjectType<ClaimedRecord, Context> =>
  new GraphQLObjectType<ClaimedRecord, Context>({
    name: `${name}_Claimed`,
    fields: () => ({
      claim: { type: required(ClaimType) },
      [root === 'claim' ? 'claim_' : root]: {
        type: object,
        resolve: ({ read }, _args, context, info) => read(context, info),
      },
    }),
  })
