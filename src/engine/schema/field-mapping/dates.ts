/** Reads times as other systems write them. */
import { tzOffset } from '@date-fns/tz'
import { utc } from '@date-fns/utc'
import { format } from 'date-fns/format'
import { parse } from 'date-fns/parse'
import { parseISO } from 'date-fns/parseISO'

const UNIX: Readonly<Record<string, number>> = { unix: 1000, unix_ms: 1 }
const SAMPLE = Date.UTC(2024, 1, 3, 4, 5, 6, 789)

export const isPattern = (dateFormat: string): boolean => dateFormat !== 'iso' && !(dateFormat in UNIX)

/** Whether times can be read by the format: `iso`, `unix`, `unix_ms` or a Unicode (TR35) pattern. */
export function isDateFormat(dateFormat: string): boolean {
  if (!isPattern(dateFormat)) return true
  try {
    const text = format(SAMPLE, dateFormat, { in: utc })
    return !Number.isNaN(+parse(text, dateFormat, SAMPLE, { in: utc }))
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
  if (!isDate) return new Date(at).toISOString()
  return new Date(at + offsetAt(at, timezone)).toISOString().slice(0, 10)
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
  try {
    if (dateFormat === 'iso') return inZone(+parseISO(text, { in: utc }), ISO_OFFSET.test(text), timezone)
    return inZone(+parse(text, dateFormat, 0, { in: utc }), hasOffset(dateFormat), timezone)
  } catch {
    return undefined
  }
}

const ISO_OFFSET = /[T ].*(Z|[+-]\d\d(:?\d\d)?)$/
/** Whether a pattern has an offset or counts seconds of UTC, outside of what it quotes. */
const hasOffset = (dateFormat: string) => /[XxTt]/.test(dateFormat.replace(/'[^']*'/g, ''))

/** Milliseconds that clocks of the zone are ahead of UTC. */
const offsetAt = (at: number, timezone: string) => tzOffset(timezone, new Date(at)) * 60_000

/** The moment that a clock of the zone shows as UTC does at `clock`. Reading in UTC takes a fifth of the time. */
function inZone(clock: number, isMoment: boolean, timezone: string): number {
  if (isMoment || Number.isNaN(clock)) return clock
  const before = (at: number) => clock - offsetAt(at, timezone)
  const first = before(clock)
  const second = before(first)
  // A time that the clock leaves out is as long after the change as it would be before.
  return before(second) === second ? second : Math.max(first, second)
}
