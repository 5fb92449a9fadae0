/** Runs operations of GraphiQL at the address of the page: JSON answers, and event streams of subscriptions. */
import { type DocumentNode, getOperationAST } from 'graphql'
import type { Send } from './send.ts'

type Params = { query: string; operationName?: string | null; variables?: unknown }
type Options = { headers?: Record<string, unknown>; documentAST?: DocumentNode }

export const fetcherOf = (address: string, send: Send) => async (params: Params, options?: Options) => {
  const { documentAST, headers } = options ?? {}
  const operation = documentAST && getOperationAST(documentAST, params.operationName)
  const streams = operation?.operation === 'subscription'
  const answer = await send(address, {
    method: 'POST',
    headers: {
      ...(headers as Record<string, string>),
      'content-type': 'application/json',
      accept: streams ? 'text/event-stream' : 'application/json',
    },
    body: JSON.stringify(params),
  })
  return answer.headers.get('content-type')?.startsWith('text/event-stream')
    ? eventsOf(answer)
    : inOrder(await answer.json())
}

type Answer = { data?: { __schema?: { types?: { name: string }[] } } }

/** The explorer of the documentation lists types as they come. */
function inOrder(answer: Answer): Answer {
  answer.data?.__schema?.types?.sort((one, other) => one.name.localeCompare(other.name))
  return answer
}

/** The results of a stream of server-sent events. */
async function* eventsOf({ body }: Response): AsyncGenerator<unknown, void> {
  let rest = ''
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const events = (rest + value).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const line = event.split('\n').find((each) => each.startsWith('data:'))
        const data = line?.slice('data:'.length).trim()
        if (data) yield JSON.parse(data)
      }
    }
  } finally {
    await reader.cancel()
  }
}
