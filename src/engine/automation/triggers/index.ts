export { type Delivery, listDeliveries, replayDelivery, sendAgain, testTrigger } from './deliveries.ts'
export { openTriggers } from './open-triggers.ts'
