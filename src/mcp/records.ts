import { readingTools } from './records/reads.ts'
import { writingTools } from './records/writes.ts'

export { create, patch, ToolRecord } from './records/operations.ts'
export { upsertRecord } from './records/upsert.ts'

export const recordTools = [...readingTools, ...writingTools]
