export { type BaseDelivery, listBaseDeliveries } from './list.ts'
export { type DeliveryNumbers, openDeliveryNumbers } from './metrics.ts'
export { type Replayed, replayDeliveries } from './replay.ts'
