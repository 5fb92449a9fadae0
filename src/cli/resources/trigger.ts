/** Commands of triggers and their deliveries. */
import { configuration } from '../command/configuration.ts'
import {
  count,
  description,
  flag,
  json,
  list,
  name,
  paging,
  query,
  secret,
  text,
  writing,
} from '../command/options.ts'

export const trigger = configuration('/:base_id/triggers', {
  summary: 'Triggers: changes of records that are sent to a URL, or run an action',
  label: 'a trigger',
  columns: ['id', 'name', 'url', 'action', 'enabled', 'version'],
  fields: [
    name,
    description,
    text('--target <url>', 'url', 'where changes are sent'),
    text('--action <id>', 'action', 'the action that changes run, in place of --target'),
    list('--record-types <types>', 'record_types', 'record types to follow (default: all)'),
    list('--events <events>', 'events', 'create, update, cancel, delete or restore (default: all)'),
    json(
      '--condition <json>',
      'condition',
      'a filter of the record; "previous." before a field reads it as it was',
    ),
    json('--headers <json>', 'headers', 'headers that are sent along'),
    flag('--disabled', 'enabled', 'send nothing', false),
    flag('--include-inbound-writes', 'skip_inbound_writes', 'also send what inbound webhooks wrote', false),
    count('--max-attempts <count>', 'max_attempts', 'attempts of a delivery (default: 12)'),
    secret('--secret <source>', 'secret', 'whsec_…; a new one by default'),
  ],
  removes: 'a trigger and its deliveries',
  more: [
    {
      name: 'deliveries',
      summary: 'List the deliveries of a trigger, newest first',
      method: 'GET',
      path: '/:base_id/triggers/:id/deliveries',
      options: [query('--status <status>', 'status', 'pending, succeeded, failed or dead'), ...paging],
      columns: ['id', 'event', 'record_type', 'record_id', 'status', 'attempts', 'next_attempt_at', 'error'],
    },
    {
      name: 'replay',
      summary: 'Send a delivery again',
      method: 'POST',
      path: '/:base_id/triggers/:id/deliveries/:delivery_id/replay',
      options: writing,
    },
    {
      name: 'test',
      summary: 'Send a test event to the receiver of a trigger',
      method: 'POST',
      path: '/:base_id/triggers/:id/test',
      options: writing,
    },
    {
      name: 'rotate-secret',
      summary: 'Give a trigger a new secret; both are valid for 24 hours',
      method: 'POST',
      path: '/:base_id/triggers/:id/rotate-secret',
      options: writing,
    },
  ],
})
