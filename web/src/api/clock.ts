/** The time of the server. The clock of a browser may be hours off, and what is taken back "since an hour ago" goes by it. */
import { storeOf } from './store.ts'

let aheadMs = 0
export const timeNow = (): number => Date.now() - aheadMs

/** The page reads it twice a minute, for all times that it shows. */
const now = storeOf(timeNow())
const tick = () => now.set(timeNow())
setInterval(tick, 30_000)
export const useNow = now.use

/** What its seconds and the way of an answer explain. */
const CLOSE_MS = 60_000

export function setClock(answer: Response): void {
  const ms = Date.now() - Date.parse(answer.headers.get('date') ?? '')
  aheadMs = Math.abs(ms) > CLOSE_MS ? ms : 0
  tick()
}
