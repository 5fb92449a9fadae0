/** Commands of inbound webhooks and their deliveries. */
import { configuration } from '../command/configuration.ts'
import { flag, json, name, paging, query, secret, text, writing } from '../command/options.ts'

export const inboundWebhook = configuration('/:base_id/inbound-webhooks', {
  summary: 'Inbound webhooks: payloads of other systems that become records',
  label: 'an inbound webhook',
  columns: ['id', 'name', 'record_type', 'enabled', 'ingest_url', 'version'],
  fields: [
    name,
    text('--record-type <type>', 'record_type', 'the record type that deliveries write'),
    json('--signature <json>', 'signature', 'how the sender signs (default: {"scheme":"standard"})'),
    json('--mapping <json>', 'mapping', 'how a payload becomes a record (default: it is the data)'),
    flag('--disabled', 'enabled', 'take no deliveries', false),
    secret('--secret <source>', 'secret', 'the key that signs deliveries; a new one by default'),
  ],
  removes: 'an inbound webhook and its deliveries',
  more: [
    {
      name: 'deliveries',
      summary: 'List the deliveries of an inbound webhook, newest first',
      method: 'GET',
      path: '/:base_id/inbound-webhooks/:id/deliveries',
      options: [query('--status <status>', 'status', 'succeeded or failed'), ...paging],
      columns: ['id', 'delivery_id', 'status', 'attempts', 'created_at', 'error'],
    },
    {
      name: 'replay',
      summary: 'Take a failed delivery again',
      method: 'POST',
      path: '/:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay',
      options: writing,
    },
    {
      name: 'rotate-secret',
      summary: 'Give an inbound webhook a new secret; both are valid for 24 hours',
      method: 'POST',
      path: '/:base_id/inbound-webhooks/:id/rotate-secret',
      options: writing,
    },
  ],
})
