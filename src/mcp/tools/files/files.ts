import type { Context } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { readingTools } from './reads.ts'
import { writingTools } from './writes.ts'

/** Tools of files, listed where the token sees a file type. */
export const fileTools = [...readingTools, ...writingTools]

const find = staticOperation('query SeesFileTypes($base: String) { seesFileTypes(base: $base) }')

/** Whether the caller can read a file type of the base, or of any base if it is null. */
export const seesFileTypes = async (context: Context, base: string | null): Promise<boolean> =>
  (await find({ base }, context)).seesFileTypes
