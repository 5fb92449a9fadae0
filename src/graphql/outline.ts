/** GraphQL query for the outline of a base. */
import * as outline from '../engine/analytics/outline/outline.ts'
import { builder } from './builder.ts'

const OutlinedType = builder.objectRef<outline.OutlinedType>('OutlinedType').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    jsonSchema: t.expose('jsonSchema', {
      type: 'JSON',
      nullable: true,
      description: 'null if it is too large for an outline.',
    }),
    records: t.exposeInt('records', { description: 'Number of records, at most 1,000.' }),
  }),
})

const OutlinedTypes = builder.objectRef<outline.TypesOutline>('OutlinedTypes').implement({
  fields: (t) => ({
    types: t.expose('types', { type: [OutlinedType], description: 'The types in most recent use, by id.' }),
    others: t.exposeStringList('others', { description: 'Ids of other types, the newest first.' }),
    total: t.exposeInt('total', { description: 'Number of types, at most 1,000.' }),
  }),
})

const OutlinedLink = builder.objectRef<outline.OutlinedLink>('OutlinedLink').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    source: t.exposeStringList('source'),
    target: t.exposeStringList('target'),
    cardinality: t.exposeString('cardinality'),
    onDelete: t.exposeString('onDelete'),
  }),
})

builder.queryFields((t) => ({
  outlinedTypes: t.field({
    type: OutlinedTypes,
    description: 'The record types of a base that the token can read, for an overview. Its cost is limited.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => outline.outlineTypes(scope, base),
  }),
  outlinedFileTypes: t.stringList({
    description:
      'Ids of the file types of a base, by id. Empty for a token that can read only some record types.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => outline.outlineFileTypes(scope, base),
  }),
  outlinedLinks: t.field({
    type: [OutlinedLink],
    description: 'The relationship types of a base that the token can read, for an overview.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => outline.outlineLinks(scope, base),
  }),
}))
