import apiReference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

export type Reference = { page: Uint8Array; script: Uint8Array }

/**
 * Scalar keeps the token in the local storage, where it would outlive the tab. Its page gets the storage of the tab in
 * place of that one.
 */
const STORAGE_OF_TAB = "Object.defineProperty(globalThis,'localStorage',{value:globalThis.sessionStorage});\n"

/** The page is served with and without the slash at its end, so it names its script by the whole path. */
function atEitherPath(page: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(page)
  if (!text.includes('src="js/scalar.js"'))
    throw new Error('The API reference names its script in another way.')
  return new TextEncoder().encode(text.replace('src="js/scalar.js"', 'src="/docs/js/scalar.js"'))
}

/** Renders the pages of the API reference with the Scalar plugin. `runInWorker` runs it in a worker. */
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
  return { page: atEitherPath(await read('/docs/')), script }
}
