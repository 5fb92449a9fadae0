/** Times as the reference reads them: RFC 3339 with any offset, or without one in a timezone. */

const SPELLING = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?([Zz]|[+-]\d\d:\d\d)?)?$/
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type Interval = (typeof INTERVALS)[number]

const known = new Map<string, bigint | null>()

/** Microseconds since 1970, or null for a text that is no time. */
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
  // A day that its month does not have comes back as another day.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(date)) return null
  const at = offset === undefined ? readings(local, zone).at(-1) : local - offsetOf(offset)
  return BigInt(at ?? local) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

function offsetOf(text: string): number {
  if (/^z$/i.test(text)) return 0
  const [hours, minutes] = text.slice(1).split(':').map(Number)
  return (text.startsWith('-') ? -1 : 1) * ((hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE)
}

/** The moments that a clock on the wall shows as `local`, earliest first. One that is skipped is shown an hour on. */
function readings(local: number, zone: string): number[] {
  const offsets = [local - DAY, local + DAY].map((near) => offsetAt(near, zone))
  const moments = [...new Set(offsets)].map((offset) => local - offset).sort((a, b) => a - b)
  const shown = moments.filter((moment) => moment + offsetAt(moment, zone) === local)
  return shown.length > 0 ? shown : moments.slice(-1)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
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

/** The start of the interval that holds an instant, as it is shown. Weeks start on Monday. */
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
  // Within the hour no clock changes; a longer interval starts at the first midnight the clock shows.
  if (interval === 'minute') return shown(moment - beyond(local, MINUTE))
  if (interval === 'hour') return shown(moment - beyond(local, HOUR))
  return shown(readings(midnight[interval], zone)[0] ?? moment)
}

/** How far a number is beyond a multiple of the unit, before zero too. */
const beyond = (value: number, unit: number) => value - Math.floor(value / unit) * unit

/** An instant as it is shown: in UTC, with milliseconds, or with microseconds where it has them. */
export function spelt(at: bigint): string {
  const moment = shown(Math.floor(Number(at) / 1000))
  const micros = String(((at % 1000n) + 1000n) % 1000n).padStart(3, '0')
  return micros === '000' ? moment : moment.replace('Z', `${micros}Z`)
}

const shown = (moment: number) => new Date(moment).toISOString()
