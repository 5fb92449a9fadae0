export { type Call, type CallPage, listCalls } from './list.ts'
