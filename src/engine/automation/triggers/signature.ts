/** Signatures of deliveries, by the Standard Webhooks specification. */
import { createHmac } from 'node:crypto'

/** The id of a delivery as its receiver sees it: the same in each attempt. */
export const webhookId = (deliveryId: string): string => `msg_${deliveryId}`

/** The headers that sign a body: one signature for each secret, the newest first. */
export function signatureHeaders(
  deliveryId: string,
  body: string,
  secrets: readonly string[],
  now = new Date(),
): Record<string, string> {
  const id = webhookId(deliveryId)
  const timestamp = Math.floor(now.getTime() / 1000)
  const signatures = secrets.map((secret) => `v1,${signature(secret, `${id}.${timestamp}.${body}`)}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}

const signature = (secret: string, signed: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(signed)
    .digest('base64')
