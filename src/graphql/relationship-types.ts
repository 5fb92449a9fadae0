import { CARDINALITIES, ON_DELETE } from '../contract/shapes.ts'
import { expectation } from '../engine/expectation.ts'
import * as types from '../engine/relationship-types/index.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, notYetDeleted, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type RelationshipType = types.RelationshipType & { dryRun?: boolean }

const Cardinality = builder.enumType('Cardinality', {
  description: 'How many links an end may have: `one_to_many` means that a target has one source.',
  values: CARDINALITIES,
})
const OnDelete = builder.enumType('OnDelete', {
  description: 'What deleting the target does: to the link, or, by cascade, to the source too.',
  values: ON_DELETE,
})

const RelationshipTypeType = builder.objectRef<RelationshipType>('RelationshipType').implement({
  description: 'A kind of link between records: which types it joins, how many, and what it holds.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    dataSchema: t.expose('dataSchema', { type: 'JSON' }),
    sourceRecordTypes: t.exposeStringList('sourceRecordTypes', {
      description: 'Ids of record types, or "*" alone for any; of those that the token may read.',
    }),
    targetRecordTypes: t.exposeStringList('targetRecordTypes'),
    cardinality: t.expose('cardinality', { type: Cardinality }),
    onDelete: t.expose('onDelete', { type: OnDelete }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.field({ type: Operation, nullable: true, resolve: (type) => type.operation }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})
const RelationshipTypePage = pageType('RelationshipTypePage', RelationshipTypeType)

builder.queryFields((t) => ({
  relationshipTypes: t.field({
    type: RelationshipTypePage,
    description: 'The relationship types of a base of which the token could read links, newest first.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => types.listRelationshipTypes(scope, base, args),
  }),
  relationshipType: t.field({
    type: RelationshipTypeType,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => types.getRelationshipType(scope, base, id),
  }),
}))

const RelationshipTypeInput = builder.inputType('RelationshipTypeInput', {
  fields: (t) => ({
    name: t.string(),
    description: t.string(),
    dataSchema: t.field({ type: 'JSON', description: 'The JSON Schema of what its links hold.' }),
    sourceRecordTypes: t.stringList(),
    targetRecordTypes: t.stringList(),
    cardinality: t.field({ type: Cardinality }),
    onDelete: t.field({ type: OnDelete }),
  }),
})

const writeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    input: t.field({ type: RelationshipTypeInput, required: true }),
    allowInvalid: t.boolean({ description: 'Keep links that a new schema refuses, flagged `valid: false`.' }),
    ...versionArgs(),
  }))
const onInvalid = (allowInvalid: boolean | null | undefined) => (allowInvalid ? 'allow' : 'refuse')

mutation('putRelationshipType', {
  description: 'Creates a relationship type or replaces it whole.',
  type: RelationshipTypeType,
  args: { ...writeArgs(), ...expectationArgs() },
  resolve: (scope, { base, id, input, allowInvalid, ...expected }) =>
    types.putRelationshipType(scope, base, id, input, {
      expected: expectation(expected),
      onInvalid: onInvalid(allowInvalid),
    }),
})

mutation('patchRelationshipType', {
  description: 'Changes the fields of a relationship type that are named; each is replaced whole.',
  type: RelationshipTypeType,
  args: writeArgs(),
  resolve: (scope, { base, id, input, allowInvalid, ...expected }) =>
    types.patchRelationshipType(scope, base, id, input, {
      expected: expectation(expected),
      onInvalid: onInvalid(allowInvalid),
    }),
})

mutation('deleteRelationshipType', {
  description: 'Deletes a relationship type; one with relationships wants `confirm` equal to its id.',
  type: Deleted,
  planned: notYetDeleted,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    confirm: t.string(),
    ...versionArgs(),
  })),
  resolve: (scope, { base, id, confirm, ...expected }) =>
    types.deleteRelationshipType(scope, base, id, confirm ?? null, expectation(expected)),
})
