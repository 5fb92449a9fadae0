/** Commands of triggers and their deliveries. */
import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'
import { flag, secret } from '../command/options.ts'

export const trigger = configuration('triggers', {
  summary: 'Triggers: changes of records that are sent to a URL, or run an action',
  columns: ['id', 'name', 'url', 'action', 'enabled', 'version'],
  says: {
    url: '--target <url> where changes are sent',
    action: '<id> the action that changes run, in place of --target',
    record_types: '<types> record types to follow (default: all)',
    events:
      '<events> create, update, cancel, delete or restore (default: all), or preview.submitted, token.paused and so on',
    condition: 'a filter of the record; "previous." before a field reads it as it was',
    headers: 'headers that are sent along',
    enabled: flag('--disabled', 'enabled', 'send nothing', false),
    skip_inbound_writes: flag(
      '--include-inbound-writes',
      'skip_inbound_writes',
      'also send what inbound webhooks wrote',
      false,
    ),
    max_attempts: 'attempts of a delivery (default: 12)',
    secret: secret('--secret <source>', 'secret', 'whsec_…; a new one by default'),
  },
  more: [
    commandOf('triggerDeliveries.list', 'deliveries', {
      says: { status: '<status> pending, succeeded, failed or dead' },
      columns: ['id', 'event', 'record_type', 'record_id', 'status', 'attempts', 'next_attempt_at', 'error'],
    }),
    commandOf('triggerDeliveries.replay', 'replay'),
    commandOf('triggers.test', 'test'),
    commandOf('triggers.rotateSecret', 'rotate-secret'),
  ],
})
