/** What a mutation of a record answers. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql'
import type { RecordItem } from '../../engine/records/index.ts'
import type { Context } from '../context.ts'
import type { RecordNode } from './node.ts'
import type { SeenType } from './seen.ts'

/** The result of a write. */
export type Payload = {
  readonly record: RecordItem & { dryRun?: boolean }
  /** The record with what is selected of it. */
  read(context: Context, info: GraphQLResolveInfo): Promise<RecordNode>
}

const Operation = new GraphQLEnumType({
  name: '_Operation',
  values: { created: {}, updated: {}, unchanged: {} },
})
const DRY_RUN = {
  type: new GraphQLNonNull(GraphQLBoolean),
  description: 'True if nothing was written.',
}
export const Deleted = new GraphQLObjectType<{ id: string; dryRun?: boolean }, Context>({
  name: '_Deleted',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLID) },
    dryRun: { ...DRY_RUN, resolve: ({ dryRun }) => dryRun === true },
  },
})

/** Types of all mutations. They are there only if there is a mutation. */
export const OF_MUTATIONS: readonly GraphQLNamedType[] = [Operation, Deleted]

const OWN = new Set(['operation', 'dryRun', 'warnings'])

export function payloadOf(
  { name, root }: SeenType,
  object: GraphQLObjectType<RecordNode, Context>,
): GraphQLObjectType<Payload, Context> {
  return new GraphQLObjectType<Payload, Context>({
    name: `${name}_Payload`,
    fields: () => ({
      [OWN.has(root) ? `${root}_` : root]: {
        type: object,
        description: 'The record after the write.',
        // Here, so that an error in what is read leaves the rest of the answer: the write is done.
        resolve: (payload, _args, context, info) => payload.read(context, info),
      },
      operation: { type: Operation, resolve: ({ record }) => record.operation },
      dryRun: { ...DRY_RUN, resolve: ({ record }) => record.dryRun === true },
      warnings: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
        description: 'Properties that the schema seems to name otherwise.',
        resolve: ({ record }) => record.warnings ?? [],
      },
    }),
  })
}
