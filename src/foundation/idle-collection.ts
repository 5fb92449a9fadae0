/**
 * Idle garbage collection. V8 collects the old generation only after it has grown enough, so an idle server
 * would keep the garbage of its last batch import. After a collection V8 keeps the freed pages in a pool; only a
 * collection of last resort returns them to the operating system.
 */
import { performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'

const CHECK_MS = 5000
/** Event loop utilization below which the server counts as idle. */
const IDLE_UTILIZATION = 0.05
/** Minimum heap growth before a collection: a collection stops the process while it marks live objects. */
const WORTH_BYTES = 32 * 1024 * 1024
/** Consecutive idle checks before freed pages are returned: that collection takes three times as long. */
const CHECKS_BEFORE_RELEASE = 3
/** Event loop utilization below which nobody waits for an answer. */
const REST_UTILIZATION = 0.01
/** Minimum growth of the process, since pages were last returned, that makes another return worth its pause: idle, and at rest. */
const WORTH_RELEASING_BYTES = 96 * 1024 * 1024
const WORTH_RELEASING_AT_REST_BYTES = 24 * 1024 * 1024

/** How far the old generation grows, in percent of what lives in it, until it is collected. V8 would let it grow to four times. */
const GROWTH_PERCENT = 40

/** Bounds the garbage that the process keeps under load, from now on. */
export function boundGarbage(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

/**
 * Starts a timer that collects garbage when the process is idle and its heap has grown since the last
 * collection, and returns freed pages when it stays idle. The first collection follows the start. The returned
 * function stops the timer.
 */
export function collectWhenIdle(checkMs = CHECK_MS): () => void {
  const collect = collector()
  let loop = performance.eventLoopUtilization()
  let heapFloor = 0
  let processFloor = 0
  let idleChecks = 0
  let isCollecting = false
  const run = async (flavor: Flavor) => {
    isCollecting = true
    await collect({ type: 'major', execution: 'async', flavor })
    heapFloor = process.memoryUsage().heapUsed
    isCollecting = false
  }
  const check = async () => {
    const before = loop
    loop = performance.eventLoopUtilization()
    if (isCollecting) return
    const { utilization } = performance.eventLoopUtilization(loop, before)
    const isIdle = utilization <= IDLE_UTILIZATION
    idleChecks = isIdle ? idleChecks + 1 : 0
    if (!isIdle) return
    const used = process.memoryUsage().heapUsed
    if (used - heapFloor >= WORTH_BYTES) return run('regular')
    heapFloor = Math.min(heapFloor, used)
    if (idleChecks < CHECKS_BEFORE_RELEASE) return
    const resident = process.memoryUsage.rss()
    const worth = utilization <= REST_UTILIZATION ? WORTH_RELEASING_AT_REST_BYTES : WORTH_RELEASING_BYTES
    if (resident - processFloor < worth) {
      processFloor = Math.min(processFloor, resident)
      return
    }
    await run('last-resort')
    processFloor = process.memoryUsage.rss()
  }
  const timer = setInterval(() => void check(), checkMs)
  timer.unref()
  return () => clearInterval(timer)
}

type Flavor = 'regular' | 'last-resort'
type Collect = (options: { type: 'major'; execution: 'async'; flavor: Flavor }) => Promise<void>

/** Gets V8's `gc` function. A context that is created while the flag is set exposes it. */
function collector(): Collect {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as Collect
  v8.setFlagsFromString('--no-expose-gc')
  return collect
}
