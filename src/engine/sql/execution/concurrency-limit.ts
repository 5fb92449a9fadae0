import { busy } from '../../../foundation/errors.ts'

/**
 * Acquires a slot for a statement of a token; the returned function releases it.
 * @throws RATE_LIMITED when none is free
 */
export type AcquireSlot = (token: string) => () => void

/** Concurrency limit: the maximum of running statements per process and per token. */
export function openSlots(most: number, mostOfToken: number): AcquireSlot {
  const inUse = new Map<string, number>()
  let all = 0
  return (token) => {
    const own = inUse.get(token) ?? 0
    if (own >= mostOfToken) throw noSlot(`This token has ${mostOfToken} SQL statements running.`)
    if (all >= most) throw noSlot(`${most} SQL statements are running.`)
    all++
    inUse.set(token, own + 1)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      all--
      const left = (inUse.get(token) ?? 1) - 1
      if (left > 0) inUse.set(token, left)
      else inUse.delete(token)
    }
  }
}

/** The error for a statement without a free slot. */
export const noSlot = (why: string) =>
  busy(why, 'Send statements one after another, or wait for Retry-After.')
