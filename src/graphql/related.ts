/** GraphQL query for records that are reachable through relationships (graph traversal). */

import { type Related, type RelatedPage, relatedRecords } from '../engine/records/related/related.ts'
import { DIRECTIONS } from '../engine/records/related/traversal-sql.ts'
import type { Titled } from '../engine/records/titles.ts'
import { builder } from './builder.ts'
import { titleField } from './common.ts'
import { windowArgs, windowFields } from './page.ts'
import { RecordRef } from './records.ts'
import { RelationshipRef } from './relationships.ts'

const RelatedRef = builder.objectRef<Titled<Related>>('Related').implement({
  description: 'A related record.',
  fields: (t) => ({
    relationship: t.expose('relationship', {
      type: RelationshipRef,
      description: 'The relationship that leads to the record: the last of the path.',
    }),
    record: t.expose('record', { type: RecordRef }),
    depth: t.exposeInt('depth', { description: 'Number of hops.' }),
    path: t.exposeStringList('path', { description: 'Ids of the relationships from the start to it.' }),
    title: titleField(t),
  }),
})

const RelatedPageRef = builder.objectRef<RelatedPage>('RelatedPage').implement({
  fields: (t) => ({
    data: t.field({ type: [RelatedRef], resolve: (page) => page.data() }),
    rows: t.field({
      type: 'JSON',
      description:
        'In the form of REST: `{ relationship, record, depth, path }`, each record with the selected `fields`.',
      args: { titles: t.arg.boolean({ description: 'Add the `title` of each record.' }) },
      resolve: (page, { titles }) => page.rows(titles ?? false),
    }),
    ...windowFields(t),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if nothing is found and no link of the record can lead this way: what to send.',
    }),
  }),
})

const RelatedDirection = builder.enumType('RelatedDirection', { values: DIRECTIONS })

const relatedArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    recordType: t.string({ required: true }),
    id: t.string({ required: true }),
    relType: t.string({ description: 'Follow relationships of this type only.' }),
    direction: t.field({ type: RelatedDirection, description: 'Defaults to `outgoing`.' }),
    depth: t.int({ description: 'Maximum number of hops, 1 to 5. Defaults to 1.' }),
    relatedType: t.string({
      description: 'Return records of this type only. The traversal passes through all types.',
    }),
    filter: t.field({
      type: 'JSON',
      description: 'Filters the records found: {"field","op","value"}, {"and":[…]} ….',
    }),
    sort: t.field({ type: 'JSON', description: '[{"field","direction"}] or "-created_at,id".' }),
    fields: t.stringList({ description: 'Fields to return: "id", "data.name".' }),
    ...windowArgs(),
  }))

builder.queryFields((t) => ({
  related: t.field({
    type: RelatedPageRef,
    description:
      'The records related to a record: each once, by a shortest path, nearest first unless sorted.',
    args: relatedArgs(),
    resolve: (_root, { base, recordType, id, ...args }, { scope }) =>
      relatedRecords(scope, base, recordType, id, args),
  }),
}))
