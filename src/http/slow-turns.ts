/**
 * Flight recorder: logs every pass of the event loop that takes longer than `LIMITS.turnMs`, with the requests that were open
 * in it. Nothing else was served meanwhile, so one such line explains slow answers of other requests.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { LIMITS } from '../limits.ts'

const TICK_MS = 20
/** Requests that one line names: the latest, since work begins soon after its request arrives. */
const NAMED = 5

/** Of the thread that serves requests; an older Node knows only that of the whole process. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage

type Open = { request: FastifyRequest; since: number }

/** Ticks only while requests are open: an idle server does not wake up for it. */
export function logSlowTurns(app: FastifyInstance, log: Logger): void {
  const open = new Set<Open>()
  // A request may end in the very turn that it made slow.
  let ended: Open[] = []
  let timer: NodeJS.Timeout | undefined
  let last = { at: 0, cpu: cpuUsage() }
  let gcMs = 0
  const count = (entries: readonly { duration: number }[]) => {
    for (const { duration } of entries) gcMs += duration
  }
  const collections = new PerformanceObserver((list) => count(list.getEntries()))
  collections.observe({ type: 'gc' })

  const write = (ms: number, cpuMs: number, suspects: Open[]) => {
    count(collections.takeRecords())
    log.warn(
      {
        ms: Math.round(ms),
        cpu_ms: Math.round(cpuMs),
        gc_ms: Math.round(gcMs),
        open_requests: suspects.length,
        requests: suspects
          .sort((a, b) => b.since - a.since)
          .slice(0, NAMED)
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
    const ms = now - last.at - TICK_MS
    if (ms > LIMITS.turnMs) {
      const { user, system } = cpuUsage(last.cpu)
      const suspects = [...open, ...ended].filter(({ since }) => since < now)
      // Node reports the collections of a turn in the phase after the timers.
      setImmediate(write, ms, (user + system) / 1000, suspects)
    } else gcMs = 0
    ended = []
    if (open.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    last = { at: now, cpu: cpuUsage() }
  }

  app.addHook('onRequest', (request, reply, done) => {
    const flight = { request, since: performance.now() }
    open.add(flight)
    reply.raw.once('close', () => {
      open.delete(flight)
      ended.push(flight)
    })
    if (!timer) {
      last = { at: flight.since, cpu: cpuUsage() }
      timer = setInterval(tick, TICK_MS)
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
