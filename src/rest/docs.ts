import Fastify, { type FastifyInstance } from 'fastify'
import { PAGE_POLICY } from '../http/pages.ts'
import { openapi } from './openapi.ts'

/** `/openapi.json` and `/docs`, the reference made from it. Neither needs a token, nor any host but this one. */
export function docs() {
  return async (app: FastifyInstance): Promise<void> => {
    let text: string | undefined
    let reference: Promise<FastifyInstance> | undefined
    app.get('/openapi.json', async (_request, reply) => {
      text ??= JSON.stringify(openapi())
      return reply.type('application/json; charset=utf-8').send(text)
    })
    for (const url of ['/docs', '/docs/*'])
      app.get(url, async (request, reply) => {
        reference ??= openReference()
        const answer = await (await reference).inject({ method: 'GET', url: request.url })
        const { 'content-type': type = '', location } = answer.headers
        if (type.toString().startsWith('text/html')) reply.header('content-security-policy', PAGE_POLICY)
        if (location) reply.header('location', location)
        return reply.code(answer.statusCode).header('content-type', type).send(answer.rawPayload)
      })
  }
}

/** The reference page is a large plugin that most servers are never asked for: it is loaded at its first request. */
async function openReference(): Promise<FastifyInstance> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference')
  const inner = Fastify()
  await inner.register(apiReference, {
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
  return inner
}
