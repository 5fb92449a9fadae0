import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server'
import { toContent, toProtocolFailure } from './content.ts'
import { callTool, listTools } from './core.ts'
import { about, INSTRUCTIONS } from './instructions.ts'
import type { Session } from './session.ts'

/** Lists depend on the token, and change with the types: a client asks again after a minute. */
const CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const

/** The protocol's stateless era, from 2026-07-28: each request carries all it needs. */
export function modernHandler(onInternal: (cause: unknown) => void) {
  const handler = createMcpHandler(
    ({ authInfo }) => serverOf(authInfo?.extra?.['session'] as Session, onInternal),
    {
      legacy: 'reject',
    },
  )
  return {
    close: () => handler.close(),
    fetch: (request: Request, parsedBody: unknown, session: Session): Promise<Response> =>
      handler.fetch(request, {
        parsedBody,
        authInfo: {
          token: '',
          clientId: session.context.scope.actor.tokenId ?? '',
          scopes: [],
          extra: { session },
        },
      }),
  }
}

function serverOf(session: Session, onInternal: (cause: unknown) => void): Server {
  const server = new Server(about, { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
  const { requestId } = session.context.scope
  const refused = (thrown: unknown) => {
    const { code, message, data } = toProtocolFailure(thrown, requestId, onInternal)
    return new ProtocolError(code, message, data)
  }
  server.setRequestHandler('tools/list', async ({ params }) => {
    try {
      return { tools: (await listTools(session, params?.cursor)) as never, ...CACHE }
    } catch (thrown) {
      throw refused(thrown)
    }
  })
  server.setRequestHandler('tools/call', async ({ params }) => {
    try {
      return toContent(await callTool(session, params.name, params.arguments ?? {}), onInternal)
    } catch (thrown) {
      throw refused(thrown)
    }
  })
  return server
}
