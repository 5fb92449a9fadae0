import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { FUNCTIONS, INTERVALS } from './aggregate-functions.ts'
import { isMoment, MOMENT, moment } from './time-input.ts'

/** Zod shapes of aggregations, shared by engine and surfaces. */

const alias = z
  .string()
  .min(1, 'An alias must have at least one character.')
  .max(LIMITS.nameChars, `An alias must have at most ${LIMITS.nameChars} characters.`)
  // As an object key, `__proto__` sets the prototype in JavaScript clients.
  .refine((name) => name !== '__proto__', 'An alias cannot be "__proto__". Use another name.')
  .optional()

const Aggregation = z
  .strictObject({
    fn: z.enum(FUNCTIONS),
    field: z
      .string()
      .optional()
      .meta({ description: 'Such as `data.amount`. Optional for `count` only, which then counts records.' }),
    alias: alias.meta({
      description: 'Its name in the response. Defaults to `count` or `<fn>_<last path segment>`.',
    }),
  })
  .meta({ id: 'Aggregation' })

const GroupTerm = z
  .strictObject({
    field: z.string(),
    interval: z
      .enum(INTERVALS)
      .optional()
      .meta({ description: 'Groups times by interval, in the timezone of the type.' }),
    alias: alias.meta({ description: 'Its name in the response. Defaults to the field.' }),
  })
  .meta({ id: 'GroupTerm' })

export const Aggregations = z
  .array(Aggregation)
  .min(1, 'It must name at least one aggregation, such as {"fn":"count"}.')
  .max(LIMITS.aggregations, `It can have at most ${LIMITS.aggregations} aggregations.`)

export const GroupBy = z
  .array(
    z.union([z.string(), GroupTerm], {
      error: `A group key is a field like "data.status", or {"field","interval","alias"}. Intervals: ${INTERVALS.join(', ')}.`,
    }),
  )
  .max(LIMITS.groupKeys, `It can have at most ${LIMITS.groupKeys} group keys.`)

/** The moments of an aggregate over time: the end of each interval. */
export const Over = z
  .strictObject({
    interval: z.enum(INTERVALS).meta({ description: 'In the timezone of the type.' }),
    since: z
      .string()
      .refine(isMoment, { error: `It must be ${MOMENT}.`, params: { code: 'invalid_time' } })
      .meta({ description: 'A timestamp, or an age such as `30d`.' }),
    until: moment.meta({ description: 'The last moment. Defaults to now.' }),
  })
  .meta({ id: 'Over' })
