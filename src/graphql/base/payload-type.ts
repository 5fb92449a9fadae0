/** What a mutation of a record answers. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql'
import type { SourceRecord } from '../../engine/automation/sources/index.ts'
import type { Deletion, DeletionPlan } from '../../engine/core/write/deletion-plan.ts'
import type { RecordItem } from '../../engine/records/index.ts'
import type { Context } from '../context.ts'
import type { TypeView } from './base-view.ts'
import { LinkTo } from './link-inputs.ts'
import { sourceNames } from './names.ts'
import type { RecordNode } from './node.ts'
import { DateTimeScalar, required } from './shared-types.ts'
import type { SourceTypes } from './source-types.ts'

/** The result of a write. */
export type Payload = {
  readonly record: Written
  /** The record with what is selected of it; null for one of a source. */
  read(context: Context, info: GraphQLResolveInfo): Promise<RecordNode | null>
}
/** A stored record, or one of a source. */
export type Written = ((RecordItem & { version: number }) | SourceRecord) & {
  dryRun?: boolean
  warnings?: RecordItem['warnings']
}

const Operation = new GraphQLEnumType({
  name: '_Operation',
  values: { created: {}, updated: {}, unchanged: {} },
})
const DRY_RUN = {
  type: required(GraphQLBoolean),
  description: 'True if nothing was written.',
}
const listOf = <T extends GraphQLNamedType>(type: T) => new GraphQLNonNull(new GraphQLList(required(type)))

const Count = new GraphQLObjectType({
  name: '_DeletionCount',
  fields: { type: { type: required(GraphQLString) }, count: { type: required(GraphQLInt) } },
})
const Group = new GraphQLObjectType({
  name: '_DeletionGroup',
  fields: {
    count: { type: required(GraphQLInt) },
    of: { type: listOf(Count), description: 'Counts by type, largest first. At most 20 types.' },
  },
})
const parts = {
  records: { type: required(Group) },
  relationships: { type: required(Group) },
  attachments: { type: required(Group) },
  samples: { type: listOf(GraphQLString), description: '`type/id` of the first ten records.' },
  titles: {
    type: new GraphQLNonNull(new GraphQLList(GraphQLString)),
    description: 'Of each sample the title, or else the id that it has elsewhere.',
  },
}
const DeletionType = new GraphQLObjectType<Deletion>({
  name: '_Deletion',
  description: 'What a deletion deletes, as far as the token can read it.',
  fields: parts,
})
const Plan = new GraphQLObjectType<DeletionPlan>({
  name: '_DeletionPlan',
  description: 'What a deletion would delete, as far as the token can read it. Nothing is deleted yet.',
  fields: {
    what: { type: required(GraphQLString), description: 'The plan as a sentence.' },
    ...parts,
    token: { type: required(GraphQLString), description: 'Approves the plan: send it as planToken.' },
    expiresAt: { type: required(DateTimeScalar) },
  },
})

/** The result of a deletion, or its plan. */
export type DeletedOrPlan = { id: string; dryRun?: boolean; deletion?: Deletion; plan?: DeletionPlan }
export const Deleted = new GraphQLObjectType<DeletedOrPlan, Context>({
  name: '_Deleted',
  fields: {
    id: { type: required(GraphQLID) },
    deleted: {
      type: required(GraphQLBoolean),
      description: 'False for a plan.',
      resolve: ({ plan }) => plan === undefined,
    },
    dryRun: { ...DRY_RUN, resolve: ({ dryRun }) => dryRun === true },
    deletion: {
      type: DeletionType,
      description: 'In a dry run and with planToken, if the deletion reaches other records.',
    },
    plan: { type: Plan, description: 'With askFirst, if the deletion reaches other records.' },
  },
})

/** Types of all mutations. They are there only if there is a mutation. */
export const OF_MUTATIONS: readonly GraphQLNamedType[] = [
  Operation,
  Deleted,
  DeletionType,
  Plan,
  Group,
  Count,
  LinkTo,
]

const OWN = new Set(['operation', 'dryRun', 'warnings'])

export function payloadOf(
  { name, root, sources }: TypeView,
  object: GraphQLObjectType<RecordNode, Context>,
  ofSource: SourceTypes['ofSource'],
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
      ...(sources.length > 0 && {
        [sourceNames({ root }).get]: {
          type: ofSource,
          description: 'The record of an external source, if externalSource names one.',
          resolve: ({ record }: Payload) => (record.version === null ? { record } : null),
        },
      }),
      operation: { type: Operation, resolve: ({ record }) => record.operation },
      dryRun: { ...DRY_RUN, resolve: ({ record }) => record.dryRun === true },
      warnings: {
        type: listOf(GraphQLString),
        description: 'Properties that the schema seems to name otherwise.',
        resolve: ({ record }) => record.warnings ?? [],
      },
    }),
  })
}
