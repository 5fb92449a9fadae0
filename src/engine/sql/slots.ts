import { DomainError } from '../../errors.ts'

/** Takes a place for a statement of a token; what it answers gives the place back. @throws RATE_LIMITED when none is free */
export type TakeSlot = (token: string) => () => void

/** Bounds how many statements of this process are under way, in all and of one token. */
export function openSlots(most: number, mostOfToken: number): TakeSlot {
  const held = new Map<string, number>()
  let all = 0
  return (token) => {
    const own = held.get(token) ?? 0
    if (own >= mostOfToken) throw busy(`This token has ${mostOfToken} SQL statements under way.`)
    if (all >= most) throw busy(`${most} SQL statements are under way.`)
    all++
    held.set(token, own + 1)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      all--
      const left = (held.get(token) ?? 1) - 1
      if (left > 0) held.set(token, left)
      else held.delete(token)
    }
  }
}

const RETRY_SECONDS = 1

/** The refusal of a statement for which there is no room now. */
export const busy = (why: string): DomainError =>
  new DomainError('RATE_LIMITED', `${why} Try again in ${RETRY_SECONDS} s.`, {
    retryAfterSeconds: RETRY_SECONDS,
    details: [
      {
        path: '',
        code: 'rate_limited',
        message: 'Send statements one after another, or wait as Retry-After says.',
      },
    ],
  })
