/** The mutation of an endpoint that takes back a request of its caller there. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { type Undo, undoChanges } from '../../engine/history/undo/undo.ts'
import type { Context } from '../context.ts'
import { runWrite } from '../mutation.ts'
import { namingArguments } from './arguments.ts'
import type { BaseView } from './base-view.ts'
import { EVERY } from './mutation-fields.ts'
import { required } from './shared-types.ts'

type Answer = Undo & { dryRun?: boolean }
type Named = { readonly kind: string; readonly recordType: string | null; readonly id: string }
const nameOf = ({ kind, recordType, id }: Named) => `${recordType ?? kind}/${id}`
const texts = new GraphQLNonNull(new GraphQLList(required(GraphQLString)))

export const UndoType = new GraphQLObjectType<Answer, Context>({
  name: '_Undo',
  description: 'What was taken back.',
  fields: {
    requestId: {
      type: GraphQLID,
      description: 'The request, if it was not named.',
      resolve: ({ last }) => last?.requestId,
    },
    count: { type: required(GraphQLInt), description: 'How many changes were reverted.' },
    undone: { type: texts, description: '`type/id` of each.', resolve: ({ data }) => data.map(nameOf) },
    skipped: {
      type: texts,
      description: 'What was left as it is, and why.',
      resolve: ({ skipped }) => skipped.map((each) => `${nameOf(each)}: ${each.message}`),
    },
    dryRun: { type: required(GraphQLBoolean), resolve: ({ dryRun }) => dryRun === true },
  },
})

type Args = { requestId?: string | null; idempotencyKey?: string | null; dryRun?: boolean | null }

export function undoField({ base, undo }: BaseView): GraphQLFieldConfigMap<unknown, Context> {
  if (!undo) return {}
  return {
    _undo: {
      type: required(UndoType),
      description: 'Takes back your last request here that is not taken back yet, or one by its id.',
      args: { requestId: { type: GraphQLID }, ...EVERY },
      resolve: (_root, args: Args, context) => {
        const { requestId } = args
        const asked = { requestId, last: requestId == null, onConflict: 'skip' as const }
        const request = { base, ...args }
        const work = runWrite('_undo', request, context, (scope) => undoChanges(scope, base, asked))
        return namingArguments(work)
      },
    },
  }
}
