export { requireOwnUrl } from './production-urls.ts'
export { newSecret, TRIGGER, type TriggerStatus } from './trigger.ts'
