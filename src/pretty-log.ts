/** The lines of the log for a person at a terminal. */
import { styleText } from 'node:util'
import { escapeForScreen } from './foundation/invisible-characters.ts'

const STYLES = { error: 'red', warn: 'yellow', info: 'green', debug: 'dim', trace: 'dim' } as const
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
const PLAIN = /^[\w.:/@+-]+$/

/** A line of JSON as `09:30:00.123 INFO  request method=GET status=200`, with the stack of an error below it. */
export function prettyLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Fields
  const { stack, ...ofError } = err ?? {}
  const pairs = Object.entries({ ...fields, ...(stack === undefined && ofError) }).map(
    ([key, value]) => `${key}=${PLAIN.test(String(value)) ? value : JSON.stringify(value)}`,
  )
  const at = CLOCK.format(new Date(time))
  const name = styled(STYLES[level], level.toUpperCase().padEnd(5))
  const below = stack === undefined ? '' : `\n${escapeForScreen(stack)}`
  return `${at} ${name} ${escapeForScreen(msg)} ${styled('dim', escapeForScreen(pairs.join(' ')))}${below}\n`
}

type Fields = {
  level: keyof typeof STYLES
  time: string
  msg: string
  err?: Record<string, unknown> & { stack?: string }
}

/** In colors if standard error has any. */
const styled = (style: (typeof STYLES)[keyof typeof STYLES], text: string): string =>
  styleText(style, text, { stream: process.stderr })
