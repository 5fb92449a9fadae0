export { INBOUND_WEBHOOK, type InboundStatus } from './inbound-webhook.ts'
