import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { DomainError } from '../foundation/errors.ts'
import { wordsOf } from '../foundation/log.ts'
import { sentToken } from '../graphql/context.ts'
import { type Authenticate, bearerOf } from './caller.ts'
import { registerMetrics, type Sources } from './metrics.ts'

type Deps = {
  readiness: () => Promise<{ database: string; cause?: unknown }>
  /** `held` in a restored copy. */
  deliveries: () => 'on' | 'off' | 'held'
  draining: () => boolean
  authenticate: Authenticate
} & Omit<Sources, 'streams' | 'toolCalls'>

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i
/** Headers that proxies set. With one of them, the client may be remote. */
const FORWARDING = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
]

/**
 * Whether the request comes from this machine and uses a local host name. The host check prevents DNS
 * rebinding by pages of other sites.
 */
const isLocal = ({ ip, headers }: FastifyRequest): boolean =>
  LOOPBACK.has(ip) &&
  LOCAL_HOST.test(headers.host ?? '') &&
  FORWARDING.every((name) => headers[name] === undefined)

/**
 * `/healthz`: liveness. `/readyz`: database reachable, migrated and writable, and not draining. `/metrics`:
 * Prometheus format.
 */
export function health(
  app: FastifyInstance,
  { readiness, deliveries, draining, authenticate, ...sources }: Deps,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }))

  app.get('/readyz', async (request, reply) => {
    if (draining()) return reply.code(503).send({ status: 'draining' })
    const { database, cause } = await readiness()
    if (database === 'reachable')
      return {
        ...{ status: 'ready', database, sql_isolation: sources.sqlIsolation(), deliveries: deliveries() },
        backup: sources.backup(),
        replica: sources.standby()?.state,
      }
    request.log.warn({ cause: wordsOf(cause), database }, 'not ready: the database cannot be written')
    return reply.code(503).send({ status: 'unready', database })
  })

  // Close keep-alive connections while draining, because they would delay shutdown.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining()) reply.header('connection', 'close')
    done()
  })

  const ofProcess = processMetrics()
  const registry = new Registry()
  const seconds = new Histogram({
    name: 'plinth_http_request_duration_seconds',
    help: 'Time from the request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'plinth_http_failures_total',
    help: 'Responses with an error status.',
    labelNames: ['status'],
    registers: [registry],
  })
  registerMetrics(registry, {
    ...sources,
    streams: () => Object.fromEntries(app.openStreams),
    toolCalls: () => Object.fromEntries(app.toolCalls),
  })
  const series = new Map<string, ReturnType<typeof seconds.labels>>()
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    const name = `${request.method} ${route} ${reply.statusCode}`
    // Cache the series: a look-up by labels costs more than the observation.
    const observed = series.get(name) ?? seconds.labels(request.method, route, String(reply.statusCode))
    series.set(name, observed)
    observed.observe(reply.elapsedTime / 1000)
    if (reply.statusCode >= 400) failures.labels(String(reply.statusCode)).inc()
    done()
  })
  app.get('/metrics', async (request, reply) => {
    if (!isLocal(request)) await requireAdmin(request.headers.authorization, request.id, authenticate)
    const parts = [await ofProcess.metrics(), await registry.metrics()]
    return reply.type(registry.contentType).send(parts.join('\n'))
  })
}

let shared: Registry | undefined

/** Metrics of Node. Their observers cannot be stopped and keep their registry, so the servers of a process share them. */
function processMetrics(): Registry {
  if (!shared) {
    shared = new Registry()
    collectDefaultMetrics({ register: shared })
  }
  return shared
}

async function requireAdmin(
  authorization: string | undefined,
  requestId: string,
  authenticate: Authenticate,
): Promise<void> {
  const token = bearerOf(authorization)
  const context = token ? await authenticate(sentToken(token), 'rest', requestId) : undefined
  if (!context)
    throw new DomainError('UNAUTHORIZED', 'Metrics are available from loopback, or with an admin token.')
  if (context.scope.access.bases('admin') !== '*')
    throw new DomainError('FORBIDDEN', 'Metrics require a token with admin on everything.')
}
