import { invalid } from '../../../foundation/errors.ts'
import { isTime } from '../../data/filter/value.ts'

/** A point in time as the caller wrote it; without an offset it is read in the type's timezone. */
export type Moment = { text: string; zone: string }

/**
 * Parses `as_of`.
 * @throws VALIDATION_ERROR at `/as_of` for an invalid time
 */
export function readMoment(text: string, zone: string): Moment {
  if (isTime(text)) return { text, zone }
  // In a URL, an unescaped plus sign decodes to a space.
  const [, time, offset] = /^(\S+) (\d\d:\d\d)$/.exec(text) ?? []
  throw invalid({
    path: '/as_of',
    code: 'invalid_time',
    message: 'as_of must be a time in RFC 3339, such as 2026-01-31T09:30:00Z.',
    received: text.slice(0, 64),
    ...(offset && { hint: `${time}%2B${offset}` }),
  })
}
