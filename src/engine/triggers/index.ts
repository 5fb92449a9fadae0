export { type Delivery, listDeliveries, replayDelivery, testTrigger } from './deliveries.ts'
export { openTriggers } from './open-triggers.ts'
export { rotateSecret } from './rotate-secret.ts'
