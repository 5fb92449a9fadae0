import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { DomainError } from '../../errors.ts'
import { LIMITS } from '../../limits.ts'
import { InvalidParams, type Provider, type Watch } from '../provider.ts'
import type { Session } from '../session.ts'
import { serverOf } from './server.ts'

type Listener = { fetch: McpHttpHandler['fetch']; body: unknown; close(): void }
type Listen = { params?: { notifications?: { resourceSubscriptions?: unknown } } }

/**
 * Readies what a `subscriptions/listen` is served by: a handler of its own, whose changes are those of this session. Of
 * the resources asked for it follows those that the token may read; the acknowledgement names them.
 * @throws RATE_LIMITED
 */
export async function openListener(
  provider: Provider,
  session: Session,
  body: unknown,
  onInternal: (cause: unknown) => void,
): Promise<Listener> {
  const handler = createMcpHandler(() => serverOf(provider, session, onInternal), {
    legacy: 'reject',
    keepAliveMs: 0,
  })
  const { notify } = handler
  const watch = await provider.watch?.(session, (changed) => {
    if ('uri' in changed) notify.resourceUpdated(changed.uri)
    else if (changed.list === 'tools') notify.toolsChanged()
    else if (changed.list === 'prompts') notify.promptsChanged()
    else notify.resourcesChanged()
  })
  const over = () => {
    if (watch?.over.reason instanceof Error && watch.over.reason.name !== 'AbortError')
      onInternal(watch.over.reason)
    void handler.close()
  }
  watch?.over.addEventListener('abort', over, { once: true })
  return {
    fetch: handler.fetch,
    body: await following(body, watch, onInternal),
    close: () => {
      watch?.close()
      void handler.close()
    },
  }
}

/** The request with the resources that are followed. */
async function following(body: unknown, watch: Watch | undefined, onInternal: (cause: unknown) => void) {
  const { params } = body as Listen
  const asked = params?.notifications?.resourceSubscriptions
  if (!watch || !Array.isArray(asked)) return body
  const followed: string[] = []
  for (const uri of new Set(asked.slice(0, LIMITS.mcpSubscriptions)))
    if (typeof uri === 'string' && (await mayFollow(watch, uri, onInternal))) followed.push(uri)
  const notifications = { ...params?.notifications, resourceSubscriptions: followed }
  return { ...(body as object), params: { ...params, notifications } }
}

const mayFollow = (watch: Watch, uri: string, onInternal: (cause: unknown) => void): Promise<boolean> =>
  watch.follow(uri).then(
    () => true,
    (thrown: unknown) => {
      if (!(thrown instanceof InvalidParams || thrown instanceof DomainError)) onInternal(thrown)
      return false
    },
  )
