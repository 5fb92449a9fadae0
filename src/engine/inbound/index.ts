export { type InboundDelivery, listDeliveries, replayDelivery } from './deliveries.ts'
export { ingestVerified } from './ingest-verified.ts'
export { type Delivery, openDelivery } from './open-delivery.ts'
