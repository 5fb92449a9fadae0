/** Where deliveries to inbound webhooks arrive, outside /v1: a signature takes the place of a token. */
import type { FastifyInstance } from 'fastify'
import { oneFault } from '../foundation/errors.ts'
import { INGEST_ROUTE, type OpenDelivery, ORG } from '../graphql/delivery.ts'
import { staticOperation } from '../graphql/execute.ts'
import { refuseEncoding } from '../http/body.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { NO_QUERY, readQuery } from './route/query.ts'

const ingest = staticOperation(
  'mutation Ingest($base: String!, $id: String!) { done: ingest(base: $base, id: $id) { data challenge } }',
)

type Params = { Params: { org_id: string; base_id: string; id: string } }

/** Serves deliveries. Refused ones count for their address, others for their webhook. */
export function ingestion(openDelivery: OpenDelivery, limiter: RateLimiter, bodyLimit: number) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    // A signature is over the bytes as they were sent.
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.post<Params>(
      INGEST_ROUTE,
      {
        bodyLimit,
        onRequest: (request, _reply, done) => {
          limiter.admit(request.ip)
          done()
        },
      },
      async (request, reply) => {
        const { org_id, base_id: base, id } = request.params
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const arrived = { headers: request.headers, body, url: request.url }
        request.about = () => [{ inbound_webhook: `${base}/${id}`.slice(0, 128) }]
        // PostgreSQL cannot compare NUL, which a percent-escape can send.
        const isAddress = org_id === ORG && !`${base}${id}`.includes('\0')
        const webhook = isAddress ? { baseId: base, id } : { baseId: '', id: '' }
        const context = await openDelivery(webhook, arrived, request.id)
        if (!context) {
          limiter.fail(request.ip)
          throw refused()
        }
        limiter.take(`inbound ${base}/${id}`, reply)
        refuseEncoding(request.headers)
        // After the signature, so that a sender without it learns nothing.
        readQuery(NO_QUERY, request.query as Record<string, unknown>)
        request.caller = context
        const { done } = await ingest({ base, id }, context)
        return { data: done.data, ...(done.challenge !== null && { challenge: done.challenge }) }
      },
    )
  }
}

const refused = () =>
  oneFault('UNAUTHORIZED', 'The delivery is not signed for an inbound webhook of this server.', {
    path: '',
    code: 'invalid_signature',
    message:
      'Check the ingest_url, the secret, the signature scheme and the clock of the sender, and that the inbound webhook is enabled.',
  })
