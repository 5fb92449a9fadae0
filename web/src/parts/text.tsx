/** What stands in a line: texts of agents, which are data, whatever they say, states in a word, and times as a person says them. */
import { timeNow, useNow } from '../api/clock.ts'

export { timeNow, useNow }

/** A cell shows that many characters, a field of a record that many lines. */
export const CELL_CHARS = 300
/** A difference in a row shows that many. */
export const DIFF_CHARS = 40

/** Control and invisible characters, and those that turn the direction of text. A joiner within an emoji is part of it. */
const UNSEEN = /(?![\n\t\r]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d)[\p{Cc}\p{Cf}]|[\u2028\u2029]/gu

/** Shows each unseen character as a mark with its number. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (char) => `⟨${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}⟩`)

/** The beginning of a text, and how many characters are missing. Never cuts a character in two. */
export function cut(text: string, most: number): { text: string; more: number } {
  if (text.length <= most) return { text, more: 0 }
  const end = most - (/[\ud800-\udbff]/.test(text[most - 1] ?? '') ? 1 : 0)
  return { text: text.slice(0, end).trimEnd(), more: text.length - end }
}

/** `customer_name` reads as "customer name", `/data/tags/0` as "tags 0". */
export const fieldName = (path: string): string =>
  visible(
    path
      .replace(/^\/?data[/.]/, '')
      .split(/[/.]/)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .join(' ')
      .replaceAll('_', ' ')
      .trim(),
  )

export const whole = new Intl.NumberFormat('en')

type Tag = 'blockquote' | 'code' | 'dt' | 'h1' | 'h2' | 'h3' | 'p' | 'q' | 'span' | 'strong'
type Props = { children: string; in?: Tag; className?: string }

/** A text of an agent: a text node, isolated from the direction of what is around it. With a class, in an element. */
export function Text({
  children,
  className,
  in: Around = className === undefined ? undefined : 'span',
}: Props) {
  const text = (
    <bdi dir="auto" className="text">
      {visible(children)}
    </bdi>
  )
  return Around ? <Around className={className}>{text}</Around> : text
}

/** What is said below, in small. */
export const Meta = ({ children }: { children: string }) => (
  <Text in="p" className="meta">
    {children}
  </Text>
)

/** The name of a tool. */
export const Tool = ({ name }: { name: string }) => (
  <Text in="code" className="tool">
    {name}
  </Text>
)

export type Tone = 'quiet' | 'added' | 'removed' | 'changed' | 'info'

/** A state in a word. Its tint repeats what the word says. */
export const Chip = ({ tone = 'quiet', children }: { tone?: Tone; children: string }) => (
  <Text className={`chip ${tone}`}>{children}</Text>
)

const TINTED: Readonly<Record<Exclude<Tone, 'quiet'>, RegExp>> = {
  removed: /^(urgent|critical|failed|error|rejected|declined|dead|blocked|overdue|lost)$/i,
  changed: /^(open|high|pending|proposed|in[ _-]?progress|review|warning|held)$/i,
  info: /^(new|todo|created|active|running)$/i,
  added: /^(done|won|sent|ok|approved|succeeded|paid|healthy|resolved)$/i,
}

/** The tints of what is done to something. */
export const EDITED = { create: 'added', update: 'changed', delete: 'removed' } as const

/** The tint of a state whose word is common; the others are quiet. */
export const toneOf = (word: string): Tone => {
  const found = Object.entries(TINTED).find(([, pattern]) => pattern.test(word))
  return (found?.[0] as Tone | undefined) ?? 'quiet'
}

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

export const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0)

/** "14:04" today, else "26 Nov". */
export function shortTime(at: number, at0: number = timeNow()): string {
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
type TimeProps = { at: string | number; isDay?: boolean; as?: 'span' | 'ago' }

export function Time({ at, isDay = false, as }: TimeProps) {
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
