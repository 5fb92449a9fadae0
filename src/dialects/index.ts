export { correctFilter } from './correct.ts'
export { correctParameter } from './parameters.ts'
export { adviseQuery } from './query.ts'
