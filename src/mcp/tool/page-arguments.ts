import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'

/** Default page size. Smaller than REST's, because output costs tokens. */
export const PAGE = 20

export const pageArguments = {
  limit: z.int32().min(1).max(LIMITS.pageMax).default(PAGE),
  offset: z.int32().min(0).optional(),
  cursor: z.string().optional(),
}

/** Output schema of every list. Leaves out `meta`, because tool lists cost tokens. */
export const pageOutput = {
  type: 'object',
  properties: { data: { type: 'array', items: { type: 'object' } } },
}

/** Output schema of a record. */
export const recordOutput = {
  type: 'object',
  properties: { data: { type: 'object' } },
}
