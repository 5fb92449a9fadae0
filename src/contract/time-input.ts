/** Times as callers write them: a timestamp, or an age. */
import { z } from 'zod'

const TIME = z.iso.datetime({ offset: true })
const AGE = /^(?:now)?-?\s*(\d{1,6})\s*(s|m|h|d|w|(?:sec|second|min|minute|hour|day|week)s?)(?: ago)?$/i
const DURATION =
  /^-?P(?=.*\d)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/i
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

const OF_DURATION = [604_800, 86_400, 3600, 60, 1]

/** What `isMoment` takes, as the end of a message. */
export const MOMENT = 'a time such as 2026-01-31T09:30:00Z, or an age such as 90m, 2h or 7d'

export const isMoment = (text: string): boolean => TIME.safeParse(text.toUpperCase()).success || isAge(text)
export const isAge = (text: string): boolean => ageOf(text) !== undefined

/**
 * The time that a timestamp or an age such as `2h`, `7d`, `-90m`, `1 hour ago` or `PT2H` means. Those beyond what PostgreSQL and ISO
 * strings share are moved into it: nothing happened then.
 */
export function readMoment(text: string, now: number | null = null): Date {
  const age = ageOf(text)
  const time = age === undefined ? Date.parse(text) : (now ?? Date.now()) - age
  return new Date(Math.min(Math.max(time, 0), LATEST))
}
const LATEST = Date.UTC(9999, 11, 31)

function ageOf(text: string): number | undefined {
  const [, amount, unit = ''] = AGE.exec(text.trim()) ?? []
  const parts = amount === undefined ? DURATION.exec(text.trim())?.slice(1) : undefined
  if (parts) return parts.reduce((sum, part, i) => sum + Number(part ?? 0) * (OF_DURATION[i] ?? 0) * 1000, 0)
  const seconds = SECONDS[unit.charAt(0).toLowerCase()]
  return amount === undefined || seconds === undefined ? undefined : Number(amount) * seconds * 1000
}

// In a URL, an unescaped plus sign decodes to a space.
const hasLostPlus = (text: unknown) => /\d \d\d:\d\d$/.test(String(text))

/** A bound of a range of times, such as `since`. A refinement, because a format in the schema costs an agent tokens. */
export const moment = z
  .string()
  .refine(isMoment, {
    error: ({ input }) =>
      `It must be ${MOMENT}.${hasLostPlus(input) ? ' In a URL, "+" is written %2B.' : ''}`,
    params: { code: 'invalid_time' },
  })
  .optional()

/** `moment` with what it bounds: `Changes from this time on`. */
export const momentOf = (bound: string) =>
  moment.meta({ description: `${bound}: a timestamp, or an age such as \`90m\`, \`2h\` or \`7d\`.` })
