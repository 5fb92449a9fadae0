/**
 * Event loop monitor: logs every pass longer than `LIMITS.turnMs` with the requests that were open in it. No
 * other request was served meanwhile, so the line explains their latency.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { LIMITS } from '../foundation/limits.ts'

/** CPU time of the main thread; older Node versions only have that of the process. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage

type Suspect = { request: FastifyRequest; since: number }

/** Starts the monitor. Its timer runs only while requests are open, so an idle server does not wake up. */
export function logEventLoopLag(app: FastifyInstance, log: Logger): void {
  // Reuse array slots. The table of a Set would retain ended requests in the old generation.
  const open: (Suspect | undefined)[] = []
  const free: number[] = []
  // A request may end in the pass that it made slow.
  let ended: Suspect[] = []
  let timer: NodeJS.Timeout | undefined
  let last = { at: 0, cpu: cpuUsage() }
  let gcMs = 0
  const count = (entries: readonly { duration: number }[]) => {
    for (const { duration } of entries) gcMs += duration
  }
  const collections = new PerformanceObserver((list) => count(list.getEntries()))
  collections.observe({ type: 'gc' })

  const write = (ms: number, cpuMs: number, suspects: Suspect[]) => {
    count(collections.takeRecords())
    log.warn(
      {
        ms: Math.round(ms),
        cpu_ms: Math.round(cpuMs),
        gc_ms: Math.round(gcMs),
        open_requests: suspects.length,
        requests: suspects
          .sort((a, b) => b.since - a.since)
          .slice(0, LIMITS.slowTurnRequests)
          .map(({ request }) => ({
            reqId: request.id,
            method: request.method,
            route: request.routeOptions.url,
          })),
      },
      'slow turn of the event loop',
    )
    gcMs = 0
  }
  const tick = () => {
    const now = performance.now()
    const ms = now - last.at - LIMITS.eventLoopTickMs
    if (ms > LIMITS.turnMs) {
      const { user, system } = cpuUsage(last.cpu)
      const suspects = [...open, ...ended].filter(
        (each) => each !== undefined && each.since < now,
      ) as Suspect[]
      // Node reports garbage collections after the timers phase.
      setImmediate(write, ms, (user + system) / 1000, suspects)
    } else gcMs = 0
    ended = []
    if (free.length === open.length) {
      clearInterval(timer)
      timer = undefined
    }
    last = { at: now, cpu: cpuUsage() }
  }

  app.addHook('onRequest', (request, reply, done) => {
    const since = performance.now()
    const place = free.pop() ?? open.length
    open[place] = { request, since }
    reply.raw.on('close', () => {
      open[place] = undefined
      free.push(place)
      // Keep only requests that end in a slow pass. A list of all would survive young-generation collections.
      if (performance.now() - last.at - LIMITS.eventLoopTickMs > LIMITS.turnMs) ended.push({ request, since })
    })
    if (!timer) {
      last = { at: since, cpu: cpuUsage() }
      timer = setInterval(tick, LIMITS.eventLoopTickMs)
      timer.unref()
    }
    done()
  })
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer)
    collections.disconnect()
    done()
  })
}
