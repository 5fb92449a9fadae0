import { readingTools } from './reads.ts'
import { writingTools } from './writes.ts'

/** Tools of files, listed where the token sees a file type. */
export const fileTools = [...readingTools, ...writingTools]
