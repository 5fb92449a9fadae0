/** Commands of relationships. */
import type { Noun } from '../command/command.ts'
import {
  createOnly,
  ifMatch,
  json,
  type Option,
  paging,
  query,
  queryJson,
  text,
  writing,
} from '../command/options.ts'

const ONE = '/:base_id/relationships/:id'

/** Options that identify the record at one end. */
const end = (side: 'source' | 'target'): readonly Option[] => [
  {
    ...text(`--${side}-type <type>`, `${side}_record_type`, `the record type of its ${side}`),
    required: true,
  },
  { ...text(`--${side} <id>`, `${side}_id`, `the id of its ${side}`), required: true },
]

export const relationship: Noun = {
  name: 'relationship',
  summary: 'Relationships: the links between records',
  columns: [
    'id',
    'rel_type',
    'source_record_type',
    'source_id',
    'target_record_type',
    'target_id',
    'version',
    'data',
  ],
  rows: [
    {
      name: 'list',
      summary: 'List relationships',
      method: 'GET',
      path: '/:base_id/relationships',
      options: [
        queryJson('--filter <json>', 'filter', '{"field":"rel_type","op":"eq","value":"works_at"}'),
        query('--sort <fields>', 'sort', 'such as -created_at,id'),
        ...paging,
      ],
    },
    { name: 'get', summary: 'Show a relationship', method: 'GET', path: ONE, options: [] },
    {
      name: 'put',
      summary: 'Link two records, or replace the data of their link; without an id, by type and ends',
      method: 'PUT',
      path: `${ONE}?`,
      options: [
        { ...text('--type <type>', 'rel_type', 'its relationship type'), required: true },
        ...end('source'),
        ...end('target'),
        json('--data <json>', 'data', 'its data'),
        text('--external-id <id>', 'external_id', 'its id in an external system'),
        text('--external-source <name>', 'external_source', 'the external system (default: "default")'),
        {
          flags: '--replace',
          about: 'move: delete the relationship that has its place by cardinality or id',
          to: { body: 'replace' },
          value: true,
        },
        ifMatch,
        createOnly,
        ...writing,
      ],
    },
    {
      name: 'delete',
      summary: 'Delete a relationship, by its id or by its type and ends',
      method: 'DELETE',
      path: `${ONE}?`,
      options: [
        query('--type <type>', 'rel_type', 'without an id: its relationship type'),
        query('--source-type <type>', 'source_record_type', 'the record type of its source'),
        query('--source <id>', 'source_id', 'the id of its source'),
        query('--target-type <type>', 'target_record_type', 'the record type of its target'),
        query('--target <id>', 'target_id', 'the id of its target'),
        ifMatch,
        ...writing,
      ],
    },
  ],
}
