/** Reads times as other systems write them. */
import { tz } from '@date-fns/tz'
import { format } from 'date-fns/format'
import { parse } from 'date-fns/parse'
import { parseISO } from 'date-fns/parseISO'

const UNIX: Readonly<Record<string, number>> = { unix: 1000, unix_ms: 1 }
const SAMPLE = Date.UTC(2024, 1, 3, 4, 5, 6, 789)

/** Whether times can be read by the format: `iso`, `unix`, `unix_ms` or a Unicode (TR35) pattern. */
export function isDateFormat(dateFormat: string): boolean {
  if (dateFormat === 'iso' || dateFormat in UNIX) return true
  try {
    const text = format(SAMPLE, dateFormat, { in: tz('UTC') })
    return !Number.isNaN(+parse(text, dateFormat, SAMPLE, { in: tz('UTC') }))
  } catch {
    return false
  }
}

/**
 * The time as RFC 3339 in UTC, or as a date where `isDate`. A time without an offset is in the zone. Undefined if
 * the value does not fit the format.
 */
export function readTime(
  value: unknown,
  dateFormat: string,
  timezone: string,
  isDate: boolean,
): string | undefined {
  const at = millisecondsOf(value, dateFormat, timezone)
  if (at === undefined || !(at >= FIRST_MS && at <= LAST_MS)) return undefined
  return isDate ? format(at, 'yyyy-MM-dd', { in: tz(timezone) }) : new Date(at).toISOString()
}

/** Years 1 to 9999 in every time zone: those that RFC 3339 can write. */
const FIRST_MS = Date.parse('0001-01-02T00:00:00Z')
const LAST_MS = Date.parse('9999-12-30T00:00:00Z')
const NUMBER = /^-?\d{1,15}(\.\d{1,9})?$/

function millisecondsOf(value: unknown, dateFormat: string, timezone: string): number | undefined {
  const unit = UNIX[dateFormat]
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return undefined
  if (unit !== undefined) return NUMBER.test(text) ? Math.round(Number(text) * unit) : undefined
  if (text.length > 100) return undefined
  const inZone = { in: tz(timezone) }
  try {
    return dateFormat === 'iso'
      ? +parseISO(text, inZone)
      : +parse(text, dateFormat, startOf(timezone), inZone)
  } catch {
    return undefined
  }
}

/** What a pattern does not say is 0: 1 January 1970, midnight. */
const startOf = (timezone: string) => parseISO('1970-01-01T00:00:00', { in: tz(timezone) })
