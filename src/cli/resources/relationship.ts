/** Commands of relationships. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'

const ONE = '/:base_id/relationships/:id?'

const ends = {
  source_record_type: '--source-type <type> the record type of its source',
  source_id: '--source <id> the id of its source',
  target_record_type: '--target-type <type> the record type of its target',
  target_id: '--target <id> the id of its target',
}

export const relationship: Noun = {
  name: 'relationship',
  summary: 'Relationships: the links between records',
  columns: [
    ...[
      'id',
      'rel_type',
      'source_record_type',
      'source_id',
      'target_record_type',
      'target_id',
      'version',
      'data',
    ],
  ],
  rows: [
    commandOf('relationships.list', 'list', {
      says: {
        filter: '{"field":"rel_type","op":"eq","value":"works_at"}',
        sort: '<fields> such as -created_at,id',
      },
    }),
    commandOf('relationships.get', 'get'),
    commandOf('relationships.upsert', 'put', {
      summary: 'Link two records, or replace the data of their link; without an id, by type and ends',
      path: ONE,
      says: {
        rel_type: '--type <type> its relationship type',
        ...ends,
        data: 'its data',
        replace: 'move: delete the relationship that has its place by cardinality or id',
      },
    }),
    commandOf('relationships.deleteByEnds', 'delete', {
      summary: 'Delete a relationship, by its id or by its type and ends',
      path: ONE,
      says: { rel_type: '--type <type> without an id: its relationship type', ...ends },
    }),
  ],
}
