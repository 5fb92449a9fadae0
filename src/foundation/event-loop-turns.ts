/**
 * Cooperative scheduling for long synchronous work. The work yields to the event loop every few milliseconds,
 * so that other requests are served.
 *
 *     for (const row of rows) {
 *       if (turnIsOver()) await nextTurn()
 *       work(row)
 *     }
 *
 * All requests share one time budget for each pass of the event loop, in FIFO order. A hundred concurrent
 * requests therefore block the loop no longer than one does.
 */

/** Time budget of one event loop pass. A short request needs several passes, and waits in each for what others use of it. */
const TURN_MS = 4

let startedAt: number | undefined
const waiting: (() => void)[] = []
let isScheduled = false

/** Returns true when the current pass has used its time budget. Costs one clock reading. */
export function turnIsOver(): boolean {
  const now = performance.now()
  if (startedAt === undefined) {
    startedAt = now
    schedule()
  }
  return now - startedAt >= TURN_MS
}

/** Resolves when earlier waiters have run and a pass of the event loop has budget left. */
export function nextTurn(): Promise<void> {
  schedule()
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}

/** Runs the steps of a generator, and yields to the event loop between them. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (turnIsOver()) await nextTurn()
  }
}

/** Maps a list, and yields to the event loop between its items. */
export async function mapInTurns<T, R>(list: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = []
  for (const item of list) {
    if (turnIsOver()) await nextTurn()
    mapped.push(map(item, mapped.length))
  }
  return mapped
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(resume)
}

function resume(): void {
  isScheduled = false
  startedAt = undefined
  if (waiting.length === 0) return
  startedAt = performance.now()
  schedule()
  serve()
}

/**
 * Resumes waiters one after another until the budget of this pass is used. Otherwise requests that arrive in
 * the meantime would overtake them: they never wait while the budget lasts.
 */
function serve(): void {
  if (turnIsOver()) return
  waiting.shift()?.()
  // Ticks run when no microtask is left, so the work of one waiter ends or yields before the next one starts.
  if (waiting.length > 0) queueMicrotask(() => process.nextTick(serve))
}
