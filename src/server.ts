/** The HTTP server: every surface on one Fastify instance. */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import type { Hold } from './backup/hold.ts'
import type { Backups } from './backup/service.ts'
import type { Config } from './config/read-config.ts'
import type { Engine } from './engine/engine.ts'
import { LIMITS } from './foundation/limits.ts'
import { linkOpener, s3Opener } from './graphql/content.ts'
import { openContext } from './graphql/context.ts'
import { deliveryOpener } from './graphql/delivery.ts'
import { playground } from './graphql/endpoint/playground.ts'
import { signInRoutes } from './graphql/endpoint/sign-in.ts'
import { acceptForms, acceptJson, bodySizes } from './http/body.ts'
import { type Authenticate, callerHooks } from './http/caller.ts'
import { compressAnswers } from './http/compression.ts'
import { closeSilentConnections, cutStalledReaders, limitConnections } from './http/connections.ts'
import { cors } from './http/cors.ts'
import { notFound, refuseExpectation, refuseSocket, sendError } from './http/errors.ts'
import { logEventLoopLag } from './http/event-loop-lag.ts'
import { frontPage } from './http/front-page.ts'
import { health } from './http/health.ts'
import { admitLargeBodies } from './http/large-bodies.ts'
import { originForm } from './http/origin-form.ts'
import { chargeOf, rateLimiter } from './http/rate-limit.ts'
import { recordCalls } from './http/record-calls.ts'
import { logRequests, requestIdOf } from './http/request-log.ts'
import { limitBodyTime } from './http/streamed-bodies.ts'
import { countAnswers, Unsent } from './http/unsent-bytes.ts'
import { mcp } from './mcp/plugin.ts'
import { previewTools, resolveTools } from './mcp/preview-tools.ts'
import { addressCheck } from './mcp/protocol/host-check.ts'
import type { Provider } from './mcp/protocol/provider.ts'
import { openAuthenticator } from './oauth/authenticator.ts'
import { openPeople } from './oauth/people/people.ts'
import { peopleRoutes } from './oauth/people/plugin.ts'
import { authorizationServer } from './oauth/server/plugin.ts'
import { attachmentLinks } from './rest/attachment-links.ts'
import { docs } from './rest/docs.ts'
import { ingestion } from './rest/ingest.ts'
import { rest } from './rest/plugin.ts'
import { s3 } from './s3/plugin.ts'
import { belowS3Root } from './s3/protocol/address.ts'

export type ServerDeps = {
  engine: Engine
  config: Config
  log: Logger
  draining: () => boolean
  hold?: Hold | undefined
  backups?: Backups | undefined
  /** MCP provider for `/mcp`; Plinth by default. */
  provider?: Provider | undefined
}

/** Assembles the Fastify server with every surface. Does not listen. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { engine, config, log, draining, hold, backups, provider } = deps
  const app: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '', headers }) => belowS3Root(originForm(url), headers.host, config.s3Host),
    bodyLimit: config.bodyBytes,
    // Longer than the longest long poll, which sends nothing while it waits.
    connectionTimeout: Math.max(config.requestTimeoutMs * 2, (LIMITS.waitSecondsMax + 15) * 1000),
    http: {
      headersTimeout: Math.min(LIMITS.headersTimeoutMs, config.requestTimeoutMs),
      connectionsCheckingInterval: LIMITS.connectionCheckMs,
      maxHeaderSize: 64 * 1024,
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: LIMITS.pathParameterChars },
    frameworkErrors: sendError,
    clientErrorHandler: refuseSocket,
  })
  const authenticate: Authenticate = async (token, via, requestId, closed, reserveBytes) => {
    const session = await engine.authenticate(token)
    return session && openContext(engine, session, via, requestId, closed, reserveBytes)
  }
  const sizes = bodySizes(config)
  const people = config.oidc && openPeople(engine, config.oidc)
  const authenticator = openAuthenticator(config, engine, authenticate)
  const limiter = rateLimiter(config.requestsPerMinute)
  const visit = async ({ ip }: FastifyRequest) => limiter.visit(ip)
  const charge = chargeOf(limiter)
  limitConnections(app, config.connections, log)
  closeSilentConnections(app)
  cutStalledReaders(app, config.sendTimeoutMs)
  const unsent = new Unsent(config.unsent)
  const httpsHost = config.publicUrl?.startsWith('https:') ? new URL(config.publicUrl).hostname : undefined

  app.decorate('openStreams', new Map())
  app.decorate('toolCalls', new Map())
  app.decorateRequest('caller')
  app.decorateRequest('refusedBody')
  app.decorateRequest('response')
  app.decorate('previewTools', previewTools)
  app.decorate('describeBase', async (caller, base) =>
    (await import('./rest/openapi/base/document.ts')).describeBase(caller, base),
  )
  app.decorate('resolveTools', resolveTools)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler(async (request) => {
    throw notFound(request)
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
    if (httpsHost !== undefined && request.hostname === httpsHost)
      reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
  logRequests(app, log, recordCalls)
  logEventLoopLag(app, log)
  countAnswers(app, unsent)
  limitBodyTime(app, config.requestTimeoutMs)
  // Event streams never end by themselves, so shutdown ends them.
  app.addHook('preClose', async () => engine.endStreams())
  await compressAnswers(app)
  admitLargeBodies(app, config.bodyBytes)
  acceptJson(app, config.databaseConnections)
  acceptForms(app)
  app.server.on('checkExpectation', refuseExpectation)
  cors(app, config.corsOrigins)
  health(app, {
    readiness: () => engine.readiness(),
    load: () => engine.load(),
    sqlIsolation: () => engine.sqlIsolation(),
    deliveries: () => (hold?.isHeld() ? 'held' : config.sendsDeliveries ? 'on' : 'off'),
    backup: () => backups?.status(),
    archiveFailures: () => backups?.failures(),
    leads: () => engine.leads(),
    standby: () => engine.standby(),
    measures: () => engine.measures(),
    refused: () => limiter.refused,
    draining,
    authenticate,
  })
  await app.register(rest(callerHooks(authenticate, limiter, unsent, 'rest'), sizes), { prefix: '/v1' })
  const toGraphql = callerHooks(authenticate, limiter, unsent, 'graphql')
  await app.register(playground(toGraphql, { visit, charge, sizes, ...config }))
  await app.register(signInRoutes(engine, limiter, toGraphql))
  await app.register(authenticator.metadata(addressCheck(config)))
  const ofPeople = { people, engine, limiter, addressCheck: addressCheck(config) }
  await app.register(authorizationServer({ ...ofPeople, config }))
  await app.register(peopleRoutes({ ...ofPeople, caller: toGraphql, publicUrl: config.publicUrl }))
  const toMcp = callerHooks(authenticator.authenticate, limiter, unsent, 'mcp', authenticator.tokenChars)
  await app.register(mcp(toMcp, { ...config, challenge: authenticator.challenge, charge }, provider))
  await app.register(attachmentLinks(visit, linkOpener(engine)))
  await app.register(ingestion(deliveryOpener(engine), limiter, sizes.record))
  await app.register(s3({ openS3: s3Opener(engine), limiter, charge, unsent }))
  await app.register(docs(visit))
  await app.register(frontPage(visit, { ...config.operator, signsIn: people !== undefined }))
  return app
}
