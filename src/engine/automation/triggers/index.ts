export {
  answerOf,
  type Delivery,
  listDeliveries,
  replayDelivery,
  sendAgain,
  testTrigger,
} from './deliveries.ts'
export { openTriggers } from './open-triggers.ts'
export { webhookId } from './signature.ts'
