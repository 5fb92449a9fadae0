import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../foundation/limits.ts'
import { type Call, noAnswer, open, PATIENCE_MS, read, received } from './command/client.ts'
import { readEvents } from './command/sse.ts'

/**
 * Follows an event stream and passes on each event as JSON. Reconnects with the id of the last event, so
 * nothing is lost or repeated.
 * @throws Failure if the server refuses, or stays unreachable
 */
export async function follow(
  url: string,
  token: string | undefined,
  request: Call,
  take: (json: string) => void,
): Promise<never> {
  let lastId: string | undefined
  for (let away = 0; ; await sleep(LIMITS.followPauseMs)) {
    const headers = { ...request.headers, ...(lastId !== undefined && { 'last-event-id': lastId }) }
    const body = await begin(url, token, { ...request, headers }).catch((thrown: unknown) => {
      // Without any response yet, the URL is probably wrong: fail at once.
      if (thrown instanceof NoAnswer && lastId !== undefined && ++away < LIMITS.followTries) return undefined
      throw thrown instanceof NoAnswer ? noAnswer(url, thrown.cause) : thrown
    })
    if (!body) continue
    away = 0
    try {
      for await (const { data, id } of readEvents(body)) {
        if (data !== '') take(data)
        lastId = id
      }
    } catch (thrown) {
      // Reconnect after a broken connection only, not after an error of this program.
      if (!(thrown instanceof TypeError && thrown.message === 'terminated')) throw thrown
    }
  }
}

class NoAnswer extends Error {}

async function begin(url: string, token: string | undefined, request: Call) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), PATIENCE_MS)
  const accept = { ...request, headers: { ...request.headers, accept: 'text/event-stream' } }
  const response = await open(url, token, accept, late.signal).catch((cause: unknown) => {
    throw new NoAnswer('no answer', { cause })
  })
  clearTimeout(timer)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (response.ok && isStream && response.body) return response.body
  read(await received(response), url, token)
  throw new NoAnswer('no stream')
}
