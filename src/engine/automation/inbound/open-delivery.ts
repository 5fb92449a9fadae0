/** Finds the webhook of a delivery, and checks its signature. */
import { randomBytes } from 'node:crypto'
import type { Mapping, Signature } from '../../../contract/inbound-webhook-shapes.ts'
import { INBOUND_WEBHOOK } from '../../configuration/inbound-webhooks/index.ts'
import { openSecret } from '../../configuration/lifecycle/secrets.ts'
import { compiledCache } from '../../core/compiled-cache.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'
import type { Refusals } from './refusals.ts'
import { type Arrived, type Verified, verify } from './verify.ts'

/** An inbound webhook, prepared for deliveries. */
export type Webhook = {
  readonly baseId: string
  readonly id: string
  readonly recordType: string
  readonly signature: Signature
  readonly mapping: Mapping | null
  readonly enabled: boolean
  /** Undefined if this process does not have the master key of the database. */
  readonly secret: string | undefined
  /** The secret before the last rotation, and until when it is valid. */
  readonly former: { readonly secret: string; readonly until: number } | undefined
}

/** A delivery whose signature is right. */
export type Delivery = Verified & {
  readonly webhook: Webhook
  readonly body: Buffer
  readonly contentType: string | null
}

const GET = statement(
  'get_inbound_webhook',
  `SELECT record_type, signature, mapping, enabled, secret, former_secret, former_secret_until FROM plinth.inbound_webhook
   WHERE base_id = $1 AND id = $2`,
)
type Row = {
  record_type: string
  signature: Signature
  mapping: Mapping | null
  enabled: boolean
  secret: string
  former_secret: string | null
  former_secret_until: Date | null
}

// Absent webhooks are cached too, so that their answers take as long as those of existing ones.
const WEBHOOKS = compiledCache<{ readonly webhook: Webhook | undefined }>({
  max: 2000,
  per: 'resource',
  from: ['inbound_webhook'],
  async load(scope, key) {
    const [baseId = '', id = ''] = key.split('/')
    const [row] = await scope.db.query<Row>(GET, [baseId, id])
    if (!row) return { webhook: undefined }
    const { record_type: recordType, signature, mapping, enabled, former_secret, former_secret_until } = row
    const owner = { kind: INBOUND_WEBHOOK, baseId, id }
    const secret = openSecret(scope, owner, 'secret', row.secret)
    const before =
      former_secret === null ? undefined : openSecret(scope, owner, 'formerSecret', former_secret)
    const former = before && former_secret_until && { secret: before, until: +former_secret_until }
    return {
      webhook: { baseId, id, recordType, signature, mapping, enabled, secret, former: former || undefined },
    }
  },
})

/** The webhook; undefined if there is none. */
export const findWebhook = async (scope: Scope, baseId: string, id: string): Promise<Webhook | undefined> =>
  (await WEBHOOKS.get(scope, `${baseId}/${id}`))?.webhook

/** What an unknown webhook is compared with, so that its answer takes as long. */
const UNKNOWN_WEBHOOK = { signature: { scheme: 'github' }, secret: randomBytes(32).toString('hex') } as const

/** Opens a delivery. Undefined without a webhook that is enabled, or a signature that is right, which is counted. */
export async function openDelivery(
  scope: Scope,
  { baseId, id }: { readonly baseId: string; readonly id: string },
  arrived: Arrived,
  refusals: Refusals,
): Promise<Delivery | undefined> {
  const now = Date.now()
  const webhook = await findWebhook(scope, baseId, id)
  const { signature, secret = UNKNOWN_WEBHOOK.secret } = webhook ?? UNKNOWN_WEBHOOK
  const former = webhook?.former && webhook.former.until > now ? webhook.former.secret : undefined
  const url = `${scope.publicUrl()}${arrived.url}`
  const verified = verify({ ...arrived, url }, signature, [secret, former], now)
  if (!verified && webhook) refusals.add(webhook)
  if (!verified || !webhook?.enabled || webhook.secret === undefined) return undefined
  const contentType = arrived.headers['content-type']
  return {
    webhook,
    body: arrived.body,
    contentType: typeof contentType === 'string' ? contentType.slice(0, 255) : null,
    ...verified,
  }
}
