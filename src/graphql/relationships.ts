/** GraphQL type, queries and mutations of relationships. */

import { expectation } from '../engine/core/write/preconditions.ts'
import * as relationships from '../engine/records/relationships/index.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { nodeId } from './node-id.ts'
import { pageArgs, pageType } from './page.ts'

export const RelationshipRef = builder.objectRef<relationships.Relationship>('Relationship').implement({
  description: 'A link from one record to another, with data.',
  fields: (t) => ({
    id: t.exposeString('id'),
    nodeId: nodeId(t, ({ id }) => [id]),
    relType: t.exposeString('relType'),
    sourceRecordType: t.exposeString('sourceRecordType'),
    sourceId: t.exposeString('sourceId'),
    targetRecordType: t.exposeString('targetRecordType'),
    targetId: t.exposeString('targetId'),
    data: t.expose('data', { type: 'JSON' }),
    externalId: t.exposeString('externalId', { nullable: true }),
    externalSource: t.exposeString('externalSource', { nullable: true }),
    version: t.exposeInt('version'),
    valid: t.expose('valid', {
      type: 'Boolean',
      nullable: true,
      description: 'False if the link violates a schema that was changed later; otherwise null.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
    replaced: t.field({
      type: ['String'],
      nullable: true,
      description: 'Ids of the links that this one replaced, which are deleted.',
      resolve: ({ replaced }) => replaced && [...replaced],
    }),
  }),
})

builder.queryFields((t) => ({
  relationships: t.field({
    type: pageType('RelationshipPage', RelationshipRef),
    description: 'The links of a base that match, newest first unless sorted.',
    args: {
      base: t.arg.string({ required: true }),
      filter: t.arg({
        type: 'JSON',
        description:
          'A filter on "rel_type", "source_id", "data.since" and so on: {"field","op","value"}, or groups of them.',
      }),
      sort: t.arg({ type: 'JSON', description: '[{"field","direction"}] or "-created_at,id".' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => relationships.listRelationships(scope, base, args),
  }),
  relationship: t.field({
    type: RelationshipRef,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => relationships.getRelationship(scope, base, id),
  }),
}))

const endArgs = () =>
  builder.args((t) => ({
    relType: t.string({ required: true }),
    sourceRecordType: t.string({ required: true }),
    sourceId: t.string({ required: true }),
    targetRecordType: t.string({ required: true }),
    targetId: t.string({ required: true }),
  }))
const RelationshipInput = builder.inputType('RelationshipInput', {
  fields: (t) => ({
    relType: t.string({ required: true }),
    sourceRecordType: t.string({ required: true }),
    sourceId: t.string({ required: true }),
    targetRecordType: t.string({ required: true }),
    targetId: t.string({ required: true }),
    data: t.field({
      type: 'JSON',
      description: 'An object. Must match the schema of the type. Defaults to {}.',
    }),
    externalId: t.string({ description: 'Identifies the link in its type, together with the source.' }),
    externalSource: t.string({ description: 'Defaults to "default" if only an id is given.' }),
    replace: t.boolean({
      description:
        'Move: delete the link that has its place by the cardinality of its type, or that has its id.',
    }),
  }),
})
const writeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ description: 'The id of a new link. Defaults to an id from the server.' }),
    input: t.field({ type: RelationshipInput, required: true }),
  }))

mutation('putRelationship', {
  description:
    'Upserts the link of a type between two records. Replaces the whole `data`. The ends of a link change only with `replace`.',
  type: RelationshipRef,
  args: { ...writeArgs(), ...expectationArgs() },
  resolve: (scope, { base, id, input, ...expected }) =>
    relationships.putRelationship(scope, base, id ?? null, input, expectation(expected)),
})

mutation('createRelationship', {
  description: 'Creates a link. An id, external pair or link that exists is a CONFLICT.',
  type: RelationshipRef,
  args: writeArgs(),
  resolve: (scope, { base, id, input }) => relationships.createRelationship(scope, base, id ?? null, input),
})

mutation('deleteRelationship', {
  description: 'Deletes a link. Its records stay.',
  type: Deleted,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    ...versionArgs(),
  })),
  resolve: (scope, { base, id, ...expected }) =>
    relationships.deleteRelationship(scope, base, id, expectation(expected)),
})

mutation('unlinkRecords', {
  description: 'Deletes the link of a type between two records. The records stay.',
  type: Deleted,
  args: builder.args((t) => ({ base: t.string({ required: true }), ...endArgs(), ...versionArgs() })),
  resolve: (scope, { base, expectedVersions, mustExist, ...ends }) =>
    relationships.deleteLinkBetween(scope, base, ends, expectation({ expectedVersions, mustExist })),
})
