/** Times as a person says them, with the exact one on hover and focus. */
import { storeOf } from '../api/store.ts'

const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
export const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
const wholeDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' })
const inDays = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
export const longDay = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
export const zone = (): string =>
  Intl.DateTimeFormat().resolvedOptions().timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? ''

/** A clock that the page reads once a minute, for all times that it shows. */
const now = storeOf(Date.now())
setInterval(() => now.set(Date.now()), 30_000)
export const useNow = now.use

export const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0)

/** "14:04" today, else "26 Nov". */
export function shortTime(at: number, at0: number = Date.now()): string {
  if (startOfDay(at) === startOfDay(at0)) return clock.format(at)
  return new Date(at).getFullYear() === new Date(at0).getFullYear() ? day.format(at) : dayOfYear.format(at)
}

/** "28 min", "2 h", "3 d", then the day. Of a time to come the same, without a sign. */
export function span(ms: number): string {
  const size = Math.abs(ms)
  if (size < MINUTE) return 'now'
  if (size < HOUR) return `${Math.floor(size / MINUTE)} min`
  if (size < 2 * DAY) return `${Math.floor(size / HOUR)} h`
  return `${Math.floor(size / DAY)} d`
}

/** `span`: how long ago it was, as a cell says it; `ago`: as a sentence does. */
type Props = { at: string | number; isDay?: boolean; as?: 'span' | 'ago' }

export function Time({ at, isDay = false, as }: Props) {
  const at0 = useNow()
  const ms = typeof at === 'number' ? at : Date.parse(isDay ? `${at}T00:00` : at)
  if (Number.isNaN(ms)) return <span>{String(at)}</span>
  const text = isDay
    ? new Date(ms).getFullYear() === new Date(at0).getFullYear()
      ? day.format(ms)
      : dayOfYear.format(ms)
    : as
      ? span(at0 - ms) + (as === 'ago' && at0 - ms >= MINUTE ? ' ago' : '')
      : shortTime(ms, at0)
  return (
    <time
      className="time"
      dateTime={new Date(ms).toISOString()}
      title={isDay ? dayOfYear.format(ms) : exact.format(ms)}
    >
      {text}
    </time>
  )
}

/** "27 November 2026, tomorrow". */
export function LongDay({ day: text }: { day: string }) {
  const now = useNow()
  const ms = Date.parse(`${text}T00:00`)
  const days = Math.round((ms - startOfDay(now)) / DAY)
  const near = Math.abs(days) < 7 ? inDays.format(days, 'day') : undefined
  return (
    <time dateTime={text}>
      {wholeDay.format(ms)} {near !== undefined && <span className="note">{near}</span>}
    </time>
  )
}

/** The text as a date or a time, where it is one by its format or its form. */
export function dateOf(text: string, format?: string): string | undefined {
  if (format !== undefined && format !== 'date' && format !== 'date-time') return undefined
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return undefined
  return Number.isNaN(Date.parse(text)) ? undefined : text
}
