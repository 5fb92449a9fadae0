import { inputRequired, ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server'
import { capabilitiesOf } from '../capabilities.ts'
import { toContent, toProtocolFailure } from '../content.ts'
import { InputNeeded, type Provider, type Wire } from '../provider.ts'
import type { Session } from '../session.ts'
import { callerOf } from './caller.ts'
import { openRounds } from './rounds.ts'

/** Lists depend on the token, and change with the types: a client asks again after a minute. */
const CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const
/** What is read changes at any moment. */
const FRESH = { ttlMs: 0, cacheScope: 'private' } as const

/** The server of one request of the era that keeps nothing, from 2026-07-28. */
export function serverOf(provider: Provider, session: Session, onInternal: (cause: unknown) => void): Server {
  const { about, instructions, tools, resources, prompts, complete } = provider
  const server = new Server(about, {
    capabilities: capabilitiesOf(provider),
    instructions: session.instructions ?? instructions,
  })
  const { requestId } = session.context.scope

  const answer = async <T extends object>(run: () => Promise<T>): Promise<never> => {
    try {
      return (await run()) as never
    } catch (thrown) {
      const { code, message, data } = toProtocolFailure(thrown, requestId, onInternal)
      throw new ProtocolError(code, message, data)
    }
  }
  /** A call that may ask: it ends with its question, or runs with the answers that came along. */
  const inRounds = (
    call: unknown,
    context: ServerContext,
    run: (caller: ReturnType<typeof callerOf>) => Promise<object>,
  ) =>
    answer(async () => {
      const { mcpReq } = context
      const rounds = openRounds(session, call, {
        inputResponses: mcpReq.inputResponses,
        requestState: mcpReq.requestState(),
      })
      try {
        return await run(callerOf(context, rounds))
      } catch (thrown) {
        if (!(thrown instanceof InputNeeded)) throw thrown
        const inputRequests = thrown.questions as never
        return inputRequired({ inputRequests, requestState: rounds.stateFor(thrown.questions) })
      }
    })

  server.setRequestHandler('tools/list', ({ params }) =>
    answer(async () => ({ ...(await tools.list(session, params?.cursor)), ...CACHE })),
  )
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) =>
    inRounds(['tools/call', name, args], context, async (caller) =>
      toContent(await tools.call(session, name, args, caller), onInternal),
    ),
  )
  if (resources) {
    server.setRequestHandler('resources/list', ({ params }) =>
      answer(async () => ({ ...(await resources.list(session, params?.cursor)), ...CACHE })),
    )
    server.setRequestHandler('resources/templates/list', ({ params }) =>
      answer(async () => ({ ...(await resources.templates(session, params?.cursor)), ...CACHE })),
    )
    server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
      inRounds(['resources/read', uri], context, async (caller) => ({
        ...(await resources.read(session, uri, caller)),
        ...FRESH,
      })),
    )
  }
  if (prompts) {
    server.setRequestHandler('prompts/list', ({ params }) =>
      answer(async () => ({ ...(await prompts.list(session, params?.cursor)), ...CACHE })),
    )
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) =>
      inRounds(['prompts/get', name, args], context, (caller) => prompts.get(session, name, args, caller)),
    )
  }
  if (complete)
    server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) =>
      answer(async () => ({
        completion: await complete(session, {
          ref: ref as Wire,
          argument,
          ...(context && { context: context as Wire }),
        }),
      })),
    )
  return server
}
