import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../../../foundation/errors.ts'
import type { AddressSession } from '../address-session.ts'
import { Outbox } from '../event-queue.ts'
import { type Changed, InvalidParams, type Provider } from '../provider.ts'
import type { Kept } from './sessions.ts'

/**
 * Opens the stream of a session: what the server has to say unasked. A session has one; a client that comes again has
 * lost the one before. @throws RATE_LIMITED
 */
export async function listen(
  provider: Provider,
  session: AddressSession,
  kept: Kept,
  onInternal: (cause: unknown) => void,
): Promise<Outbox> {
  const outbox = new Outbox()
  const watch = await provider.watch?.(session, (changed) => outbox.send(notificationOf(changed)))
  for (const uri of kept.uris)
    try {
      await watch?.follow(uri)
      // Nobody told of what happened while there was no stream.
      outbox.send(notificationOf({ uri }))
    } catch (thrown) {
      // What the token may no longer read, it no longer follows.
      if (!(thrown instanceof InvalidParams || thrown instanceof DomainError)) onInternal(thrown)
      kept.uris.delete(uri)
    }
  kept.stream?.outbox.end()
  const stream = { outbox, watch }
  kept.stream = stream
  outbox.onEnd = () => {
    watch?.close()
    kept.usedAt = Date.now()
    if (kept.stream === stream) kept.stream = undefined
  }
  const over = () => {
    if (watch?.over.reason instanceof Error && watch.over.reason.name !== 'AbortError')
      onInternal(watch.over.reason)
    // The grants may be others: whoever comes again looks for himself.
    outbox.send(notificationOf({ list: 'tools' }))
    outbox.end()
  }
  if (watch?.over.aborted) over()
  else watch?.over.addEventListener('abort', over, { once: true })
  return outbox
}

const notificationOf = (changed: Changed): JSONRPCMessage =>
  'uri' in changed
    ? { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: changed.uri } }
    : { jsonrpc: '2.0', method: `notifications/${changed.list}/list_changed` }
