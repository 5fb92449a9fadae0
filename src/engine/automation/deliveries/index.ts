export { type BaseDelivery, listBaseDeliveries } from './list.ts'
export { DELIVERY_COUNTS, type DeliveryCount, OLDEST_DUE, OLDEST_UNMATCHED } from './metrics.ts'
export { type Replayed, replayDeliveries } from './replay.ts'
