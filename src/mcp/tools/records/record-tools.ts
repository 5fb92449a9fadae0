/** All record tools. */
import { readingTools } from './reads.ts'
import { writingTools } from './writes.ts'

export { create, patch, ToolRecord } from './operations.ts'
export { upsertRecord } from './writes.ts'

export const recordTools = [...readingTools, ...writingTools]
