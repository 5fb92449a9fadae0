import apiReference from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { PAGE_POLICY } from '../http/pages.ts'
import { openapi } from './openapi.ts'

/** `/openapi.json` and `/docs`, the reference made from it. Neither needs a token, nor any host but this one. */
export function docs() {
  return async (app: FastifyInstance): Promise<void> => {
    let text: string | undefined
    app.get('/openapi.json', async (_request, reply) => {
      text ??= JSON.stringify(openapi())
      return reply.type('application/json; charset=utf-8').send(text)
    })
    app.addHook('onSend', async (_request, reply) => {
      if (String(reply.getHeader('content-type')).startsWith('text/html'))
        reply.header('content-security-policy', PAGE_POLICY)
    })
    await app.register(apiReference, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        pageTitle: 'Plinth API',
        favicon: 'data:,',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      } as Record<string, unknown>,
    })
  }
}
