/** Times as models write them, which often have no clock. */
import { z } from 'zod'

const TIME = z.iso.datetime({ offset: true })
const AGE = /^(?:now)?-?\s*(\d{1,6})\s*(s|m|h|d|w|(?:sec|second|min|minute|hour|day|week)s?)(?: ago)?$/i
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** A time, or an age such as `2h`, `7d`, `-90m` or `1 hour ago`, as a time; undefined for another text. */
export function readMoment(text: string): string | undefined {
  if (TIME.safeParse(text).success) return text
  const [, amount, unit = ''] = AGE.exec(text.trim()) ?? []
  const seconds = SECONDS[unit.charAt(0).toLowerCase()]
  if (amount === undefined || seconds === undefined) return undefined
  return new Date(Date.now() - Number(amount) * seconds * 1000).toISOString()
}
