import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../../../foundation/errors.ts'
import type { AddressSession } from '../address-session.ts'
import { Outbox } from '../event-queue.ts'
import { type Changed, InvalidParams, type Provider } from '../provider.ts'
import type { Kept } from './sessions.ts'

/**
 * Opens the GET stream of a session for server-initiated messages. A session has one stream; a new one
 * replaces the old one, whose connection is presumed lost.
 * @throws RATE_LIMITED
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
      // Notify about changes that may have been missed while no stream was open.
      outbox.send(notificationOf({ uri }))
    } catch (thrown) {
      // Drop subscriptions that the token may no longer read.
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
    // The grants may have changed, so the client must list the tools again after it reconnects.
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
