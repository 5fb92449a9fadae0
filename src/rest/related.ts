/** REST route for graph traversal: records that are reachable through relationships. */

import { z } from 'zod'
import { rowsBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { FoundRecord } from './records/shapes.ts'
import { Relationship } from './relationships.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { askedIn, includeTitles, json, names, pageQuery, title, whole } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, onType, recordId, relTypeId, typeId } from './route/shapes.ts'

const Related = z
  .object({
    relationship: Relationship.omit({ operation: true, dry_run: true }).meta({
      description: 'The relationship that leads to the record: the last of the path.',
    }),
    record: FoundRecord,
    title,
    depth: z.int().meta({ description: 'Number of hops.' }),
    path: z.array(z.string()).meta({ description: 'Ids of the relationships from the start to it.' }),
  })
  .meta({ id: 'Related' })

export const related = tagged('Records', [
  route('GET /:base_id/records/:record_type/:id/related', {
    summary: 'Get related records: each once, by a shortest path, nearest first',
    need: onType('read'),
    params: z.strictObject({ base_id: baseId(), record_type: typeId, id: recordId }),
    query: pageQuery.omit({ cursor: true }).extend({
      rel_type: relTypeId.optional().meta({ description: 'Follow relationships of this type only.' }),
      direction: z
        .enum(['outgoing', 'incoming', 'both'])
        .optional()
        .meta({ description: 'Defaults to `outgoing`.' }),
      record_type: typeId
        .optional()
        .meta({ description: 'Return records of this type only. The traversal passes through all types.' }),
      depth: whole(1, LIMITS.relatedDepth, 1, 'Maximum number of hops.'),
      filter: json(
        'Filters the records found. With `record_type`, its schema determines which fields are times; otherwise times compare as text.',
      ),
      sort: json('`-created_at,id`, or `[{"field","direction"}]`. Defaults to nearest first, then newest.'),
      include: includeTitles,
      fields: names('Fields to return: `id`, `data.name`.'),
    }),
    cuts: true,
    renamed: { related_type: 'record_type' },
    operation: graphql(
      `query Related($base: String!, $recordType: String!, $id: String!, $relType: String, $direction: RelatedDirection, $depth: Int,
        $relatedType: String, $filter: JSON, $sort: JSON, $fields: [String!], $limit: Int, $offset: Int, $includeTotal: Boolean, $withTitles: Boolean!) {
        related(base: $base, recordType: $recordType, id: $id, relType: $relType, direction: $direction, depth: $depth,
          relatedType: $relatedType, filter: $filter, sort: $sort, fields: $fields, limit: $limit, offset: $offset,
          includeTotal: $includeTotal) { rows(titles: $withTitles) hasMore truncated limit offset total hint }
      }`,
    ),
    variables: (parts) => ({
      ...byName(parts),
      recordType: parts.params.record_type,
      relatedType: parts.query.record_type,
      ...askedIn(parts.query),
      withTitles: parts.query.include !== undefined,
    }),
    reply: ({ related }) => ({ body: rowsBody(related) }),
    answers: listOf(Related),
  }),
])
