import { z } from 'zod'
import { LIMITS } from '../limits.ts'

/** Tools answer shorter pages than REST: what is read is paid for. */
const PAGE = 20

export const pageArguments = {
  limit: z.int().min(1).max(LIMITS.pageMax).default(PAGE),
  offset: z.int().min(0).optional(),
  cursor: z.string().optional().meta({ description: 'meta.next_cursor of the page before.' }),
}

type PageArguments = { limit: number; offset?: number | undefined; cursor?: string | undefined }

/** The page as GraphQL's variables have it. */
export const pageOf = ({ limit, offset, cursor }: PageArguments) => ({
  limit,
  ...(offset !== undefined && { offset }),
  ...(cursor !== undefined && { cursor }),
})

/** The schema of a list answer: what holds of every one. */
export const pageOutput = {
  type: 'object',
  properties: {
    data: { type: 'array', items: { type: 'object' } },
    meta: { type: 'object' },
  },
  required: ['data', 'meta'],
}

/** The schema of a record answer. */
export const recordOutput = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    version: { type: 'integer' },
    data: { type: 'object' },
  },
  required: ['id'],
}

/** The schema of the answer of an administrative write. */
export const itemOutput = {
  type: 'object',
  properties: { id: { type: 'string' }, version: { type: 'integer' } },
  required: ['id'],
}
