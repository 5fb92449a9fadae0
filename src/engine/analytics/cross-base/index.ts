export { aggregateAcrossBases } from './aggregate.ts'
export { listAcrossBases } from './list.ts'
