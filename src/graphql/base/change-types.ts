/** The types of entries of the change log. */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql'
import { type Change, OPERATIONS } from '../../engine/log/entry.ts'
import type { Context } from '../context.ts'
import type { TypeView } from './base-view.ts'
import type { RecordNode } from './node.ts'
import { DateTimeScalar, JsonScalar, required } from './shared-types.ts'

export const Operation = new GraphQLEnumType({
  name: '_ChangeOperation',
  values: Object.fromEntries(OPERATIONS.map((value) => [value, {}])),
})
export const Actor = new GraphQLObjectType<Change['actor'], Context>({
  name: '_Actor',
  description: 'Who made a change, and through which interface.',
  fields: {
    tokenId: { type: GraphQLID },
    name: { type: required(GraphQLString) },
    kind: { type: required(GraphQLString), description: '`person`, `agent` or `program`.' },
    via: { type: required(GraphQLString) },
  },
})
/** Fields of an entry of the log. */
export const ENTRY_FIELDS: GraphQLFieldConfigMap<
  Pick<Change, 'seq' | 'at' | 'operation' | 'version' | 'actor' | 'diff'>,
  Context
> = {
  seq: { type: required(GraphQLFloat), description: 'An integer that increases within the base, with gaps.' },
  at: { type: required(DateTimeScalar) },
  operation: { type: required(Operation) },
  version: { type: required(GraphQLInt) },
  actor: { type: required(Actor) },
  diff: {
    type: required(JsonScalar),
    description: 'RFC 6902 diff of { data, status, external_id, external_source } from the version before.',
  },
}

/** Of an event that says that a record changed, not who changed what. */
const { actor: _, diff: __, ...EVENT_FIELDS } = ENTRY_FIELDS

export const changesName = ({ root }: Pick<TypeView, 'root'>): string => `${root}Changes`

/** The type of an event. Its fields are made when they are asked for. */
export const changeTypeOf = (
  type: TypeView,
  object: GraphQLObjectType<RecordNode, Context>,
): GraphQLObjectType<Event, Context> =>
  new GraphQLObjectType<Event, Context>({
    name: `${type.name}_Change`,
    fields: () => ({
      ...((type.changes === 'entries' ? ENTRY_FIELDS : EVENT_FIELDS) as GraphQLFieldConfigMap<
        Event,
        Context
      >),
      id: { type: required(GraphQLID), description: 'The id of the record.' },
      record: {
        type: object,
        description: 'The record as it is now; null if it is deleted.',
        resolve: ({ read }, _args, context, info) => read(context, info),
      },
    }),
  })

/** An entry that is an event of the subscription. */
export type Event = Change & {
  /** The record with what is selected of it; null if it is deleted. */
  readonly read: (context: Context, info: GraphQLResolveInfo) => Promise<RecordNode | null>
}
