export { type Call, type CallPage, listCalls } from './list.ts'
export { listUsage, type Usage } from './usage.ts'
