/**
 * Flight recorder: logs every pass of the event loop that takes longer than `LIMITS.turnMs`, with the requests that were open
 * in it. Nothing else was served meanwhile, so one such line explains slow answers of other requests.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { LIMITS } from '../foundation/limits.ts'

const TICK_MS = 20
/** Requests that one line names: the latest, since work begins soon after its request arrives. */
const NAMED = 5

/** Of the thread that serves requests; an older Node knows only that of the whole process. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage

type Suspect = { request: FastifyRequest; since: number }

/** Ticks only while requests are open: an idle server does not wake up for it. */
export function logSlowTurns(app: FastifyInstance, log: Logger): void {
  // Places that are used again, not a set: the table of a set that grew would keep ended requests alive for the old generation.
  const open: (Suspect | undefined)[] = []
  const free: number[] = []
  // A request may end in the very turn that it made slow.
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
      const suspects = [...open, ...ended].filter(
        (each) => each !== undefined && each.since < now,
      ) as Suspect[]
      // Node reports the collections of a turn in the phase after the timers.
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
    reply.raw.once('close', () => {
      open[place] = undefined
      free.push(place)
      // Only what ends in a turn that is slow already: a list of all of them would outlive each young collection.
      if (performance.now() - last.at - TICK_MS > LIMITS.turnMs) ended.push({ request, since })
    })
    if (!timer) {
      last = { at: since, cpu: cpuUsage() }
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
