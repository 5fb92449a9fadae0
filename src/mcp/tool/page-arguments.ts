import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'

/** Tools answer shorter pages than REST: what is read is paid for. */
export const PAGE = 20

export const pageArguments = {
  limit: z.int32().min(1).max(LIMITS.pageMax).default(PAGE),
  offset: z.int32().min(0).optional(),
  cursor: z.string().optional(),
}

type PageArguments = { limit: number; offset?: number | undefined; cursor?: string | undefined }

/** The page as GraphQL's variables have it. */
export const pageOf = ({ limit, offset, cursor }: PageArguments) => ({
  limit,
  ...(offset !== undefined && { offset }),
  ...(cursor !== undefined && { cursor }),
})

/** The schema of a list answer: what holds of every one. Its `meta` goes unsaid, as lists of tools are paid for. */
export const pageOutput = {
  type: 'object',
  properties: { data: { type: 'array', items: { type: 'object' } } },
}

/** The schema of a record answer. */
export const recordOutput = {
  type: 'object',
  properties: { data: { type: 'object' } },
}

/** The schema of any other answer about one thing. */
export const answerOutput = { type: 'object', properties: {} }
