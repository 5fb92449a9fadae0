import { busy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** Releases a slot. */
type Free = () => void

/** Concurrency limit: the maximum of running statements per process and per token. */
export type Slots = {
  /**
   * Takes a slot now.
   * @throws RATE_LIMITED when none is free
   */
  take(token: string): Free
  /**
   * Takes a slot in turn, within the wait of a write. Call it without a connection.
   * @throws RATE_LIMITED when none gets free in time
   */
  wait(token: string): Promise<Free>
}

type Waiter = { token: string; take: (free: Free) => void }

/** `what` they are, in the message of a refusal. */
export function openSlots(most: number, mostOfToken: number, what = 'SQL statements'): Slots {
  const inUse = new Map<string, number>()
  const waiters: Waiter[] = []
  let all = 0
  const refusal = (token: string): string | undefined => {
    if ((inUse.get(token) ?? 0) >= mostOfToken) return `This token has ${mostOfToken} ${what} running.`
    return all >= most ? `${most} ${what} are running.` : undefined
  }
  const occupy = (token: string): Free => {
    all++
    inUse.set(token, (inUse.get(token) ?? 0) + 1)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      all--
      const left = (inUse.get(token) ?? 1) - 1
      if (left > 0) inUse.set(token, left)
      else inUse.delete(token)
      const at = waiters.findIndex((waiter) => refusal(waiter.token) === undefined)
      const [next] = at < 0 ? [] : waiters.splice(at, 1)
      next?.take(occupy(next.token))
    }
  }
  const take = (token: string): Free => {
    const why = refusal(token)
    if (why !== undefined) throw noSlot(why)
    return occupy(token)
  }
  return {
    take,
    wait(token) {
      const why = refusal(token)
      if (why === undefined) return Promise.resolve(occupy(token))
      if (waiters.length >= LIMITS.sqlWaiters) return Promise.reject(noSlot(why))
      return new Promise((resolve, reject) => {
        const waiter = { token, take: resolve }
        waiters.push(waiter)
        const late = setTimeout(() => {
          const at = waiters.indexOf(waiter)
          if (at < 0) return
          waiters.splice(at, 1)
          reject(noSlot(why))
        }, LIMITS.sqlWaitMs)
        waiter.take = (free) => {
          clearTimeout(late)
          resolve(free)
        }
      })
    },
  }
}

/** The error for a statement without a free slot. */
export const noSlot = (why: string) =>
  busy(why, 'Send statements one after another, or wait for Retry-After.')
