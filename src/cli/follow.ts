import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, noAnswer, open, read, received } from './command/client.ts'
import { readEvents } from './command/sse.ts'

const FIRST_ANSWER_MS = 35_000
const PAUSE_MS = 1000
/** Attempts in a row that reach no server before it is given up. */
const TRIES = 30

/**
 * Hands on what a stream of the API brings, as the JSON it came as, without end. When the connection breaks it goes on
 * after the last event: nothing is missed, nothing comes twice. @throws Failure when the server refuses, or stays away
 */
export async function follow(
  url: string,
  token: string | undefined,
  request: Call,
  take: (json: string) => void,
): Promise<never> {
  let lastId: string | undefined
  for (let away = 0; ; await sleep(PAUSE_MS)) {
    const headers = { ...request.headers, ...(lastId !== undefined && { 'last-event-id': lastId }) }
    const body = await begin(url, token, { ...request, headers }).catch((thrown: unknown) => {
      // Before the first answer nothing was followed yet: then whoever asks has named the wrong server.
      if (thrown instanceof Unreached && lastId !== undefined && ++away < TRIES) return undefined
      throw thrown instanceof Unreached ? noAnswer(url, thrown.cause) : thrown
    })
    if (!body) continue
    away = 0
    try {
      for await (const { data, id } of readEvents(body)) {
        if (data !== '') take(data)
        lastId = id
      }
    } catch (thrown) {
      // What was cut off is taken up again; a fault of ours is not.
      if (!(thrown instanceof TypeError && thrown.message === 'terminated')) throw thrown
    }
  }
}

class Unreached extends Error {}

async function begin(url: string, token: string | undefined, request: Call) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), FIRST_ANSWER_MS)
  const accept = { ...request, headers: { ...request.headers, accept: 'text/event-stream' } }
  const response = await open(url, token, accept, late.signal).catch((cause: unknown) => {
    throw new Unreached('no answer', { cause })
  })
  clearTimeout(timer)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (response.ok && isStream && response.body) return response.body
  read(await received(response), url, token)
  throw new Unreached('no stream')
}
