export { INBOUND_WEBHOOK } from './inbound-webhook.ts'
