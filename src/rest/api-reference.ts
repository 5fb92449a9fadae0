import apiReference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

export type Reference = { page: Uint8Array; script: Uint8Array }

/** Renders the pages of the API reference with the Scalar plugin. `renderInWorker` runs it in a worker. */
export async function make(): Promise<Reference> {
  const app = Fastify()
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
  const read = async (url: string) => (await app.inject({ method: 'GET', url })).rawPayload
  return { page: await read('/docs/'), script: await read('/docs/js/scalar.js') }
}
