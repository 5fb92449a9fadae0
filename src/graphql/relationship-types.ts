/** GraphQL type, queries and mutations of relationship types. */
import { CARDINALITIES, ON_DELETE } from '../contract/shapes.ts'
import { RELATIONSHIP_TYPE } from '../engine/configuration/relationship-types/index.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

const Cardinality = builder.enumType('Cardinality', {
  description: 'How many links an end can have: `one_to_many` means that a target has at most one source.',
  values: CARDINALITIES,
})
const OnDelete = builder.enumType('OnDelete', {
  description: 'What deleting the target does: delete the link, refuse, or delete the source too.',
  values: ON_DELETE,
})

configuration('RelationshipType', RELATIONSHIP_TYPE, {
  description: 'A kind of link between records: the types that it joins, its cardinality and its schema.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    dataSchema: t.expose('dataSchema', { type: 'JSON' }),
    sourceRecordTypes: t.exposeStringList('sourceRecordTypes', {
      description: 'Ids of record types that the token can read, or "*" alone for any.',
    }),
    targetRecordTypes: t.exposeStringList('targetRecordTypes'),
    cardinality: t.expose('cardinality', { type: Cardinality }),
    onDelete: t.expose('onDelete', { type: OnDelete }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    dataSchema: t.field({ type: 'JSON', description: 'The JSON Schema of the data of its links.' }),
    sourceRecordTypes: t.stringList(),
    targetRecordTypes: t.stringList(),
    cardinality: t.field({ type: Cardinality }),
    onDelete: t.field({ type: OnDelete }),
  }),
  list: 'The relationship types of a base whose links the token can read, newest first.',
  put: 'Creates a relationship type or replaces it whole.',
  remove: 'Deletes a relationship type. If it has relationships, `confirm` must equal its id.',
  writes: {
    args: builder.args((t) => ({
      allowInvalid: t.boolean({
        description: 'Keep links that violate a new schema, flagged `valid: false`.',
      }),
    })),
    options: ({ allowInvalid }) => ({ onInvalid: allowInvalid ? 'allow' : 'refuse' }),
  },
  confirms: true,
})
