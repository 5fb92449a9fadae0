/** Commands of all deliveries of a base. */
import type { Noun } from '../command/command.ts'
import { paging, query, text, writing } from '../command/options.ts'

const COLUMNS = [
  'created_at',
  'direction',
  'of',
  'status',
  'attempts',
  'record_type',
  'record_id',
  'error',
  'id',
]

export const deliveries: Noun = {
  name: 'deliveries',
  summary: 'Deliveries of all triggers and inbound webhooks of a base',
  columns: COLUMNS,
  rows: [
    {
      name: 'list',
      summary: 'List deliveries, newest first',
      method: 'GET',
      path: '/:base_id/deliveries',
      options: [
        query('--direction <out|in>', 'direction', 'out: of triggers; in: to inbound webhooks'),
        query('--of <id>', 'of', 'only of this trigger or inbound webhook'),
        query('--status <status>', 'status', 'pending, succeeded, failed or dead'),
        query('--since <time>', 'since', 'from this time on, or an age such as 2h'),
        query('--until <time>', 'until', 'before this time or age'),
        query('--record-type <type>', 'record_type', 'only of records of this type'),
        query('--id <record>', 'id', 'only of this record, with --record-type'),
        ...paging,
      ],
    },
    {
      name: 'replay',
      summary: 'Send or take again up to 1,000 deliveries; with --dry-run, only count them',
      method: 'POST',
      path: '/:base_id/deliveries/replay',
      options: [
        text('--direction <out|in>', 'direction', 'out: of triggers; in: to inbound webhooks'),
        text('--of <id>', 'of', 'only of this trigger or inbound webhook'),
        text('--status <status>', 'status', 'failed, dead or succeeded'),
        text('--since <time>', 'since', 'from this time on, or an age such as 2h'),
        ...writing,
      ],
    },
  ],
}
