import apiReference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

export type Reference = { page: Uint8Array; script: Uint8Array }

/**
 * Scalar keeps the token in the local storage, where it would outlive the tab. Its page gets the storage of the tab in
 * place of that one.
 */
const STORAGE_OF_TAB = "Object.defineProperty(globalThis,'localStorage',{value:globalThis.sessionStorage});\n"

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
      persistAuth: true,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    } as Record<string, unknown>,
  })
  const read = async (url: string) => (await app.inject({ method: 'GET', url })).rawPayload
  const script = Buffer.concat([Buffer.from(STORAGE_OF_TAB), await read('/docs/js/scalar.js')])
  return { page: await read('/docs/'), script }
}
