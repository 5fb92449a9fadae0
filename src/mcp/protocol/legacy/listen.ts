import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../../../foundation/errors.ts'
import type { AddressSession } from '../address-session.ts'
import { EventQueue } from '../event-queue.ts'
import { type Changed, InvalidParams, type Provider } from '../provider.ts'
import type { ClientSession } from './sessions.ts'

/**
 * Opens the GET stream of a session for server-initiated messages. A session has one stream; a new one
 * replaces the old one, whose connection is presumed lost.
 * @throws RATE_LIMITED
 */
export async function listen(
  provider: Provider,
  session: AddressSession,
  client: ClientSession,
  onInternal: (cause: unknown) => void,
): Promise<EventQueue> {
  const queue = new EventQueue()
  const watch = await provider.watch?.(session, (changed) => queue.send(notificationOf(changed)))
  for (const uri of client.uris)
    try {
      await watch?.follow(uri)
      // Notify about changes that may have been missed while no stream was open.
      queue.send(notificationOf({ uri }))
    } catch (thrown) {
      // Drop subscriptions that the token may no longer read.
      if (!(thrown instanceof InvalidParams || thrown instanceof DomainError)) onInternal(thrown)
      client.uris.delete(uri)
    }
  client.stream?.queue.end()
  const stream = { queue, watch }
  client.stream = stream
  queue.onEnd = () => {
    watch?.close()
    client.usedAt = Date.now()
    if (client.stream === stream) client.stream = undefined
  }
  const over = () => {
    if (watch?.over.reason instanceof Error && watch.over.reason.name !== 'AbortError')
      onInternal(watch.over.reason)
    // The grants may have changed, so the client must list the tools again after it reconnects.
    queue.send(notificationOf({ list: 'tools' }))
    queue.end()
  }
  if (watch?.over.aborted) over()
  else watch?.over.addEventListener('abort', over, { once: true })
  return queue
}

const notificationOf = (changed: Changed): JSONRPCMessage =>
  'uri' in changed
    ? { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: changed.uri } }
    : { jsonrpc: '2.0', method: `notifications/${changed.list}/list_changed` }
