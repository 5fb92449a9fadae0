/** Attachments of records: their type, and those that a query asks for, in one statement for the records of a type on a level. */
import {
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql'
import { attachmentsOf, linkTo } from '../../engine/records/attachments/index.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import type { TypeView } from './base-view.ts'
import type { Attached, RecordNode } from './node.ts'
import { fieldsOf, type Sets } from './selection.ts'
import { DateTimeScalar, required } from './shared-types.ts'

const NAME = '_attachments'

export const Attachment = new GraphQLObjectType<Attached, Context>({
  name: '_Attachment',
  description: 'A file of a record.',
  fields: {
    id: { type: required(GraphQLID) },
    filename: { type: required(GraphQLString) },
    contentType: { type: required(GraphQLString) },
    size: { type: GraphQLFloat, description: 'Bytes; null while the content is missing.' },
    sha256: { type: GraphQLString },
    status: {
      type: required(GraphQLString),
      description: '"pending" while the content is missing, then "ready".',
    },
    createdAt: { type: required(DateTimeScalar) },
    url: {
      type: GraphQLString,
      description: 'Where the content can be downloaded without a token, for 15 minutes.',
      resolve: ({ link, url }) => link?.().url ?? url,
    },
    uploadUrl: {
      type: GraphQLString,
      description: 'Of a new attachment without content: where a PUT without a token uploads it.',
    },
    expiresAt: {
      type: DateTimeScalar,
      description: 'When the URL stops working.',
      resolve: ({ link, expiresAt }) => link?.().expiresAt ?? expiresAt,
    },
  },
})

/** The field of an object. */
export const ATTACHMENTS: GraphQLFieldConfig<RecordNode, Context> = {
  type: new GraphQLNonNull(new GraphQLList(required(Attachment))),
  description: `The attachments of the record, the oldest first, at most ${LIMITS.expandedOfOne}.`,
  // Look-ahead has read them.
  resolve: ({ attachments }) => attachments ?? [],
}

export async function readAttachments(
  { scope }: Context,
  info: GraphQLResolveInfo,
  base: string,
  { nodes, sets }: { nodes: readonly RecordNode[]; sets: Sets },
): Promise<void> {
  for (const [type, ofType] of Map.groupBy(nodes, (node) => node.type)) {
    const asked = [...fieldsOf(info, [type.name, '_Record'], sets).values()]
    if (!type.attachments || !asked.some(([field]) => field?.name.value === NAME)) continue
    const keys = ofType.map(({ record }) => ({ recordType: type.id, id: record.id }))
    const found = await attachmentsOf(scope, base, keys, scope.answer.page())
    if (!found) throw tooLarge()
    for (const [n, node] of ofType.entries())
      node.attachments = (found[n] ?? []).slice(0, LIMITS.expandedOfOne).map((view): Attached => {
        const { content_type: contentType, created_at: createdAt, ...rest } = view
        const link = () => linkTo(scope, [base, type.id, node.record.id], view.id)
        return { ...rest, contentType, createdAt, link }
      })
  }
}

const tooLarge = () =>
  invalid({
    path: '/first',
    code: 'too_large',
    message: 'The attachments exceed the size of a response. Read fewer records.',
  })

// Claims of records, and the claims that a mutation makes.

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
  { name, root }: TypeView,
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
