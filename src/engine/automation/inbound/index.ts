export { type InboundDelivery, listDeliveries, replayDelivery } from './deliveries.ts'
export { ingestVerified } from './ingest.ts'
export { type Delivery, openDelivery } from './open-delivery.ts'
export { openRefusals } from './refusals.ts'
