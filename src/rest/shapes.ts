import { z } from 'zod'
import { ID_RULES, isBaseId, isRecordId, isTypeId } from '../ids.ts'

/** A time as the API writes it. */
export const time = z
  .string()
  .meta({ format: 'date-time', description: 'RFC 3339 in UTC with milliseconds.' })

export const baseId = (test: (id: string) => boolean = isBaseId) =>
  z
    .string()
    .refine(test, `A base id is ${ID_RULES.base}.`)
    .meta({ description: `A base id: ${ID_RULES.base}.` })
export const typeId = z
  .string()
  .refine(isTypeId, `A record type id is ${ID_RULES.type}.`)
  .meta({ description: 'A record type id.' })
export const recordId = z
  .string()
  .refine(isRecordId, `A record id is ${ID_RULES.record}.`)
  .meta({ description: 'A record id.' })

export const expectedVersion = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .optional()
  .meta({ description: 'Write only when this is the current version; the same as `If-Match`.' })

export const Deleted = z
  .object({ id: z.string(), deleted: z.literal(true), dry_run: z.literal(true).optional() })
  .meta({ id: 'Deleted' })
