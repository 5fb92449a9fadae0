/** Commands of inbound webhooks and their deliveries. */
import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'
import { flag, secret } from '../command/options.ts'

export const inboundWebhook = configuration('inbound-webhooks', {
  summary: 'Inbound webhooks: payloads of other systems that become records',
  columns: ['id', 'name', 'record_type', 'enabled', 'ingest_url', 'version'],
  says: {
    record_type: '<type> the record type that deliveries write',
    signature: 'how the sender signs (default: {"scheme":"standard"})',
    mapping: 'how a payload becomes a record (default: it is the data)',
    enabled: flag('--disabled', 'enabled', 'take no deliveries', false),
    secret: secret('--secret <source>', 'secret', 'the key that signs deliveries; a new one by default'),
  },
  more: [
    commandOf('inboundDeliveries.list', 'deliveries', {
      says: { status: '<status> succeeded or failed' },
      columns: ['id', 'delivery_id', 'status', 'attempts', 'created_at', 'error'],
    }),
    commandOf('inboundDeliveries.replay', 'replay'),
    commandOf('inboundWebhooks.rotateSecret', 'rotate-secret'),
  ],
})
