/** GraphQL type, queries and mutations of relationship types. */
import { CARDINALITIES, ON_DELETE } from '../contract/shapes.ts'
import { RELATIONSHIP_TYPE } from '../engine/configuration/relationship-types/index.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

const Cardinality = builder.enumType('Cardinality', {
  description: 'How many links an end may have: `one_to_many` means that a target has one source.',
  values: CARDINALITIES,
})
const OnDelete = builder.enumType('OnDelete', {
  description: 'What deleting the target does: to the link, or, by cascade, to the source too.',
  values: ON_DELETE,
})

configuration('RelationshipType', RELATIONSHIP_TYPE, {
  description: 'A kind of link between records: which types it joins, how many, and what it holds.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    dataSchema: t.expose('dataSchema', { type: 'JSON' }),
    sourceRecordTypes: t.exposeStringList('sourceRecordTypes', {
      description: 'Ids of record types, or "*" alone for any; of those that the token may read.',
    }),
    targetRecordTypes: t.exposeStringList('targetRecordTypes'),
    cardinality: t.expose('cardinality', { type: Cardinality }),
    onDelete: t.expose('onDelete', { type: OnDelete }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    dataSchema: t.field({ type: 'JSON', description: 'The JSON Schema of what its links hold.' }),
    sourceRecordTypes: t.stringList(),
    targetRecordTypes: t.stringList(),
    cardinality: t.field({ type: Cardinality }),
    onDelete: t.field({ type: OnDelete }),
  }),
  list: 'The relationship types of a base of which the token could read links, newest first.',
  put: 'Creates a relationship type or replaces it whole.',
  patch: 'Changes the fields of a relationship type that are named; each is replaced whole.',
  remove: 'Deletes a relationship type; one with relationships wants `confirm` equal to its id.',
  writes: {
    args: builder.args((t) => ({
      allowInvalid: t.boolean({
        description: 'Keep links that a new schema refuses, flagged `valid: false`.',
      }),
    })),
    options: ({ allowInvalid }) => ({ onInvalid: allowInvalid ? 'allow' : 'refuse' }),
  },
  confirms: true,
})
