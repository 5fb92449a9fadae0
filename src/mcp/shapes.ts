import { z } from 'zod'
import { LIMITS } from '../limits.ts'

/** Tools answer shorter pages than REST: what is read is paid for. */
const PAGE = 20

export const pageArguments = {
  limit: z
    .int()
    .min(1)
    .max(LIMITS.pageMax)
    .default(PAGE)
    .meta({ description: `Items a page; ${PAGE} when left out.` }),
  offset: z.int().min(0).default(0).meta({ description: 'Items to step over.' }),
}

/** The schema of a list answer. */
export const pageOutput = {
  type: 'object',
  properties: {
    data: { type: 'array', items: { type: 'object' } },
    meta: {
      type: 'object',
      properties: { has_more: { type: 'boolean' }, total: { type: 'integer' } },
      required: ['has_more'],
    },
  },
  required: ['data', 'meta'],
}

/** The schema of a record answer. */
export const recordOutput = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    version: { type: 'integer' },
    operation: { type: 'string', enum: ['created', 'updated', 'unchanged'] },
    data: { type: 'object' },
  },
  required: ['id'],
}
