/**
 * Cooperative scheduling for long synchronous work: it runs in turns of some milliseconds, and the event loop serves other
 * requests between them.
 *
 *     for (const row of rows) {
 *       if (turnIsOver()) await nextTurn()
 *       work(row)
 *     }
 *
 * The turn is that of the process, not of one request: all work that waits shares one budget for each pass of the event
 * loop, first come first served. So a hundred requests that work at once hold the loop no longer than one does.
 */

/** How long work may hold the event loop in one pass. */
const TURN_MS = 10

let startedAt: number | undefined
const waiting: (() => void)[] = []
let isScheduled = false

/** True when the current pass of the event loop has worked for its budget. Costs one clock reading. */
export function turnIsOver(): boolean {
  const now = performance.now()
  if (startedAt === undefined) {
    startedAt = now
    schedule()
  }
  return now - startedAt >= TURN_MS
}

/** Resolves in a later pass of the event loop, when it is the caller's turn. */
export function nextTurn(): Promise<void> {
  schedule()
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(resume)
}

function resume(): void {
  isScheduled = false
  startedAt = undefined
  const first = waiting.shift()
  if (!first) return
  startedAt = performance.now()
  first()
  // Its work runs as a microtask. The next in line has the next pass of the event loop.
  schedule()
}
