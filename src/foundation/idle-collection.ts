/**
 * Idle garbage collection. V8 collects the old generation only after it has grown enough, so an idle server
 * would keep the garbage of its last batch import.
 */
import { performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'

const CHECK_MS = 5000
/** Event loop utilization below which the server counts as idle. */
const IDLE_UTILIZATION = 0.05
/** Minimum heap growth before a collection: a collection stops the process while it marks live objects. */
const WORTH_BYTES = 32 * 1024 * 1024

/**
 * Starts a timer that collects garbage when the process is idle and its heap has grown since the last
 * collection. The first collection follows the start. The returned function stops the timer.
 */
export function collectWhenIdle(checkMs = CHECK_MS): () => void {
  const collect = collector()
  let loop = performance.eventLoopUtilization()
  let floor = 0
  let isCollecting = false
  const check = async () => {
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
  const timer = setInterval(() => void check(), checkMs)
  timer.unref()
  return () => clearInterval(timer)
}

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>

/** Gets V8's `gc` function. A context that is created while the flag is set exposes it. */
function collector(): Collect {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as Collect
  v8.setFlagsFromString('--no-expose-gc')
  return collect
}
