/** Reference implementation of timestamps: RFC 3339 with any offset, or local time in a timezone. */

const SPELLING = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?([Zz]|[+-]\d\d:\d\d)?)?$/
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type Interval = (typeof INTERVALS)[number]

const known = new Map<string, bigint | null>()

/** Microseconds since 1970; null for invalid text. */
export function instant(text: string, zone: string): bigint | null {
  const key = `${zone} ${text}`
  const before = known.get(key)
  if (before !== undefined) return before
  const found = read(text, zone)
  known.set(key, found)
  return found
}

function read(text: string, zone: string): bigint | null {
  const [, date, time = '00:00', seconds = '00', fraction = '', offset] = SPELLING.exec(text) ?? []
  if (date === undefined) return null
  const local = Date.parse(`${date}T${time}:${seconds}Z`)
  // Date normalizes days that do not exist, such as February 30.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(date)) return null
  const at = offset === undefined ? readings(local, zone).at(-1) : local - offsetOf(offset)
  return BigInt(at ?? local) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

function offsetOf(text: string): number {
  if (/^z$/i.test(text)) return 0
  const [hours, minutes] = text.slice(1).split(':').map(Number)
  return (text.startsWith('-') ? -1 : 1) * ((hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE)
}

/**
 * The instants that a wall clock shows as `local`, earliest first. A skipped local time maps to one hour
 * later.
 */
function readings(local: number, zone: string): number[] {
  const offsets = [local - DAY, local + DAY].map((near) => offsetAt(near, zone))
  const moments = [...new Set(offsets)].map((offset) => local - offset).sort((a, b) => a - b)
  const shown = moments.filter((moment) => moment + offsetAt(moment, zone) === local)
  return shown.length > 0 ? shown : moments.slice(-1)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** UTC offset of a zone at an instant, in milliseconds. */
function offsetAt(moment: number, zone: string): number {
  let clock = clocks.get(zone)
  if (!clock) {
    const [year, month, day, hour, minute, second] = Array<'numeric'>(6).fill('numeric')
    const parts = { year, month, day, hour, minute, second } as Intl.DateTimeFormatOptions
    clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...parts })
    clocks.set(zone, clock)
  }
  const shown = Object.fromEntries(
    clock.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day, hour, minute, second } = shown
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment / 1000) * 1000
}

/** Formatted start of the interval that contains an instant. Weeks start on Monday. */
export function startOf(interval: Interval, at: bigint, zone: string): string {
  const moment = Math.floor(Number(at) / 1000)
  const local = moment + offsetAt(moment, zone)
  const [day, month, year] = [
    Math.floor(local / DAY),
    new Date(local).getUTCMonth(),
    new Date(local).getUTCFullYear(),
  ]
  const midnight = {
    day: day * DAY,
    week: (day - beyond(day + 3, 7)) * DAY,
    month: Date.UTC(year, month),
    quarter: Date.UTC(year, month - (month % 3)),
    year: Date.UTC(year, 0),
  }
  // Offsets do not change within an hour. Longer intervals start at the first local midnight.
  if (interval === 'minute') return shown(moment - beyond(local, MINUTE))
  if (interval === 'hour') return shown(moment - beyond(local, HOUR))
  return shown(readings(midnight[interval], zone)[0] ?? moment)
}

/** Floor modulo, also for negative numbers. */
const beyond = (value: number, unit: number) => value - Math.floor(value / unit) * unit

/** Formats an instant in UTC with milliseconds, or with microseconds if it has any. */
export function spelt(at: bigint): string {
  const moment = shown(Math.floor(Number(at) / 1000))
  const micros = String(((at % 1000n) + 1000n) % 1000n).padStart(3, '0')
  return micros === '000' ? moment : moment.replace('Z', `${micros}Z`)
}

const shown = (moment: number) => new Date(moment).toISOString()
