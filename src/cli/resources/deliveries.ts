/** Commands of all deliveries of a base. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'

const says = {
  direction: '<out|in> out: of triggers; in: to inbound webhooks',
  of: '<id> only of this trigger or inbound webhook',
}

export const deliveries: Noun = {
  name: 'deliveries',
  summary: 'Deliveries of all triggers and inbound webhooks of a base',
  columns: ['created_at', 'direction', 'of', 'status', 'attempts', 'record_type', 'record_id', 'error', 'id'],
  rows: [
    commandOf('deliveries.list', 'list', {
      summary: 'List deliveries, newest first',
      says: {
        ...says,
        status: '<status> pending, succeeded, failed or dead',
        record_type: '<type> only of records of this type',
        id: '<record> only of this record, with --record-type',
      },
    }),
    commandOf('deliveries.replay', 'replay', {
      summary: 'Send or take again up to 1,000 deliveries; with --dry-run, only count them',
      says: { ...says, status: '<status> failed, dead or succeeded' },
    }),
  ],
}
