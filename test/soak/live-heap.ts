/** Loaded into the server of a soak: writes to `SOAK_HEAP` what lives in its heap after each collection of the old generation. */
import { appendFileSync } from 'node:fs'
import { constants, PerformanceObserver } from 'node:perf_hooks'

const { SOAK_HEAP: path } = process.env
const isMajor = (entry: object) =>
  'detail' in entry && (entry.detail as { kind?: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR

if (path !== undefined)
  new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) appendFileSync(path, `${process.memoryUsage().heapUsed}\n`)
  }).observe({ entryTypes: ['gc'] })
