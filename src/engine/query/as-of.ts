import { invalid } from '../../foundation/errors.ts'
import { isTime } from '../filter/time.ts'

/** A moment as a caller wrote it; a date or time without an offset is read in the type's timezone. */
export type Moment = { text: string; zone: string }

/** @throws VALIDATION_ERROR at `/as_of` for what is no time */
export function readMoment(text: string, zone: string): Moment {
  if (isTime(text)) return { text, zone }
  // In a URL a plus sign that is not escaped is a space.
  const [, time, offset] = /^(\S+) (\d\d:\d\d)$/.exec(text) ?? []
  throw invalid({
    path: '/as_of',
    code: 'invalid_time',
    message: 'as_of is a moment in RFC 3339, such as 2026-01-31T09:30:00Z.',
    received: text.slice(0, 64),
    ...(offset && { hint: `${time}%2B${offset}` }),
  })
}
