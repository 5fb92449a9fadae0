/** Deliveries to inbound webhooks, for the surface that takes them. A signature replaces the token. */
import type { Engine } from '../engine/engine.ts'
import { type Context, newWrite } from './context.ts'

/** Path under which deliveries arrive: `/inbound/{org_id}/{base_id}/{inbound_webhook_id}/ingest`. */
export const INGEST_ROUTE = '/inbound/:org_id/:base_id/:id/ingest'
/** The account of the installation. */
export const ORG = 'default'

export const ingestPath = ({ baseId, id }: { baseId: string; id: string }): string =>
  INGEST_ROUTE.replace(':org_id', ORG).replace(':base_id', baseId).replace(':id', id)

/**
 * Opens the context of a delivery. Undefined if there is no such webhook, it is disabled, or the signature is not
 * right.
 */
export type OpenDelivery = (
  webhook: { baseId: string; id: string },
  arrived: Parameters<Engine['deliveryScope']>[1],
  requestId: string,
) => Promise<Context | undefined>

export const deliveryOpener =
  (engine: Engine): OpenDelivery =>
  async (webhook, arrived, requestId) => {
    const scope = await engine.deliveryScope(webhook, arrived, requestId)
    if (!scope) return undefined
    return {
      scope,
      write: newWrite(),
    }
  }
