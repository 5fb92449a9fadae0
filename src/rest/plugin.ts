/** All routes of /v1, mounted. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../foundation/errors.ts'
import { type Need, requireNeed } from '../graphql/context.ts'
import type { BodySizes } from '../http/body.ts'
import type { CallerHooks } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { actions } from './actions.ts'
import { aggregates } from './aggregates.ts'
import { attachments } from './attachments.ts'
import { baseFile } from './base-file.ts'
import { baseOpenapi } from './base-openapi.ts'
import { bases } from './bases.ts'
import { batch } from './batch.ts'
import { calls } from './calls.ts'
import { changeSetReviews } from './change-set-reviews.ts'
import { changeStream, changes, trace } from './changes.ts'
import { claimLists } from './claim-lists.ts'
import { claims } from './claims.ts'
import { config } from './config.ts'
import { crossBase } from './cross-base.ts'
import { deliveries } from './deliveries.ts'
import { diagnostics } from './diagnostics.ts'
import { endpoints } from './endpoints.ts'
import { fileTypes } from './file-types.ts'
import { files, takeFilePath } from './files/routes.ts'
import { history, revert } from './history.ts'
import { inboundWebhooks } from './inbound-webhooks.ts'
import { mcpTools } from './mcp-tools.ts'
import { previews } from './previews.ts'
import { profile } from './profile.ts'
import { promotions } from './promotions.ts'
import { providers } from './providers.ts'
import { recordTypes } from './record-types.ts'
import { records } from './records/routes.ts'
import { related } from './related.ts'
import { relationshipTypes } from './relationship-types.ts'
import { relationships } from './relationships.ts'
import { resolvedEndpoint } from './resolved-endpoint.ts'
import { reviewRequests } from './review-requests.ts'
import type { Route } from './route/route.ts'
import { adviser } from './route/route-advice.ts'
import { s3Credentials } from './s3-credentials.ts'
import { seeds } from './seeds.ts'
import { sql } from './sql.ts'
import { sqlExecute } from './sql-execute.ts'
import { tokens } from './tokens.ts'
import { toolsets } from './toolsets.ts'
import { trash } from './trash.ts'
import { triggers } from './triggers.ts'
import { undo } from './undo.ts'
import { vault } from './vault.ts'
import { wait } from './wait.ts'

/** All routes of /v1, except streams. */
export const ROUTES: readonly Route[] = [
  ...bases,
  ...baseFile,
  ...baseOpenapi,
  ...previews,
  ...promotions,
  ...reviewRequests,
  ...changeSetReviews,
  ...config,
  ...recordTypes,
  ...profile,
  ...records,
  ...attachments,
  ...batch,
  ...related,
  ...relationshipTypes,
  ...relationships,
  ...fileTypes,
  ...files,
  ...s3Credentials,
  ...history,
  ...revert,
  ...undo,
  ...trash,
  ...claims,
  ...deliveries,
  ...claimLists,
  ...wait,
  ...aggregates,
  ...crossBase,
  ...sql,
  ...sqlExecute,
  ...providers,
  ...endpoints,
  ...resolvedEndpoint,
  ...toolsets,
  ...seeds,
  ...actions,
  ...triggers,
  ...inboundWebhooks,
  ...mcpTools,
  ...tokens,
  ...vault,
  ...diagnostics,
  ...changes,
  ...calls,
  ...trace,
]
/** Routes that respond with an event stream. */
export const STREAMS: readonly Route[] = [...changeStream]

const unknownRoute = (request: FastifyRequest) => notFound(request, advise)
const advise = adviser([...ROUTES, ...STREAMS])

/** Fastify plugin for /v1. Checks token, route, permission and shape, in this order. */
export function rest(caller: CallerHooks, sizes: BodySizes) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', caller.onRequest)
    app.addHook('preHandler', caller.preHandler)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('cache-control', 'private, no-cache')
      try {
        // Before the body is read. The router takes a trailing slash for an empty id.
        if (request.is404 || (!takeFilePath(request) && /^[^?]*\/(\?|$)/.test(request.url)))
          throw unknownRoute(request)
        const { need } = request.routeOptions.config
        if (need) requireNeed(request.caller, need(request.params as Record<string, string>))
        refuseBodyOfRead(request)
        done()
      } catch (refusal) {
        done(refusal as Error)
      }
    })
    for (const row of [...ROUTES, ...STREAMS]) row.mount(app, sizes)
    app.setNotFoundHandler(async (request) => {
      throw unknownRoute(request)
    })
  }
}

/**
 * Fastify does not read the body of a GET, so its values would have no effect. Two bytes can be "{}", which
 * names nothing.
 * @throws VALIDATION_ERROR
 */
function refuseBodyOfRead({ method, headers }: FastifyRequest): void {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= 2))
    return
  throw invalid({
    path: '',
    code: 'unexpected_body',
    message: `A ${method} must not have a body. Send its values as query parameters.`,
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required permission of a route of /v1. */
    need?: (params: Record<string, string>) => Need
  }
}
