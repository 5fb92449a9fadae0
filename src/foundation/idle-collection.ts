/**
 * Gives memory back after a load. V8 collects its old generation only when that has grown enough: a server that has taken a
 * batch import would keep the garbage of it for as long as nothing else comes.
 */
import { performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'

const LOOK_MS = 5000
/** Share of the time in which the event loop works: below it the server counts as idle. */
const IDLE_UTILIZATION = 0.05
/** A collection stops the process for as long as it takes to mark what is alive: it has to be worth it. */
const WORTH_BYTES = 32 * 1024 * 1024

/**
 * Collects garbage when the process is idle and its heap has grown since the last time: first after the start, which leaves
 * some behind. Ends with the returned function.
 */
export function collectWhenIdle(lookMs = LOOK_MS): () => void {
  const collect = collector()
  let loop = performance.eventLoopUtilization()
  let floor = 0
  let isCollecting = false
  const look = async () => {
    const before = loop
    loop = performance.eventLoopUtilization()
    if (isCollecting || performance.eventLoopUtilization(loop, before).utilization > IDLE_UTILIZATION) return
    const used = process.memoryUsage().heapUsed
    if (used - floor < WORTH_BYTES) {
      floor = Math.min(floor, used)
      return
    }
    isCollecting = true
    await collect({ type: 'major', execution: 'async' })
    floor = process.memoryUsage().heapUsed
    isCollecting = false
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>

/** V8's own function, which a context shows that is made while the flag is set. */
function collector(): Collect {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as Collect
  v8.setFlagsFromString('--no-expose-gc')
  return collect
}
