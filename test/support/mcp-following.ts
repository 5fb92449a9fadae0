import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Dialect } from './mcp.ts'

type List = 'resources' | 'prompts'
/** A client with resource subscriptions in its era, and the notifications it got. */
export type Following = {
  /** Subscribes to one resource, in eras with such a request. */
  follow(uri: string): Promise<unknown>
  unfollow(uri: string): Promise<unknown>
  /** Resolves with the next unconsumed notification for the URI. */
  until(uri: string): Promise<void>
  untilList(list: List): Promise<void>
  /** All resource notifications, without consecutive duplicates. */
  resourceEvents(): string[]
  /** Resolves when the server has ended the subscription and, if the client reconnects, has refused it. */
  ended: Promise<unknown>
  close(): Promise<void>
}

/** Notifications by name, queued until a test awaits them. */
function inbox() {
  const arrived: string[] = []
  const unseen: string[] = []
  const waiting: { name: string; resolve: () => void }[] = []
  return {
    arrived,
    put(name: string) {
      arrived.push(name)
      const at = waiting.findIndex((each) => each.name === name)
      if (at >= 0) waiting.splice(at, 1)[0]?.resolve()
      else unseen.push(name)
    },
    until: (name: string) =>
      new Promise<void>((resolve) => {
        const at = unseen.indexOf(name)
        if (at < 0) return void waiting.push({ name, resolve })
        unseen.splice(at, 1)
        resolve()
      }),
  }
}

/** Transport options that report when the session stream opens and when the server refuses another. */
function observed(requestInit: RequestInit) {
  const open = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const observing = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    if (init?.method === 'GET') (response.ok ? open : ended).resolve()
    return response
  }
  return { options: { requestInit, fetch: observing }, open: open.promise, ended: ended.promise }
}

/** Connects a client of the dialect, subscribed to the URIs and to list changes. */
export async function followWith(
  url: string,
  token: string,
  dialect: Dialect,
  path: string,
  uris: string[],
): Promise<Following> {
  const at = new URL(path, url)
  const { options, open, ended } = observed({ headers: { authorization: `Bearer ${token}` } })
  const { arrived, put, until } = inbox()
  const common = {
    until,
    untilList: (list: List) => until(`list ${list}`),
    resourceEvents: () => arrived.filter((name, n) => !name.startsWith('list ') && name !== arrived[n - 1]),
  }
  if (dialect === 'v1') {
    const client = new Client({ name: 'test', version: '1.0.0' })
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => put(params.uri))
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => put('list prompts'))
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => put('list resources'))
    await client.connect(new StreamableHTTPClientTransport(at, options) as Transport)
    await open
    for (const uri of uris) await client.subscribeResource({ uri })
    return {
      ...common,
      follow: (uri) => client.subscribeResource({ uri }),
      unfollow: (uri) => client.unsubscribeResource({ uri }),
      ended,
      close: () => client.close(),
    }
  }
  const mode = dialect === 'modern' ? { pin: '2026-07-28' } : dialect
  const client = new ModernClient({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => put(params.uri))
  client.setNotificationHandler('notifications/prompts/list_changed', () => put('list prompts'))
  client.setNotificationHandler('notifications/resources/list_changed', () => put('list resources'))
  await client.connect(new ModernTransport(at, options))
  if (dialect === 'legacy') await open
  if (dialect === 'legacy') for (const uri of uris) await client.subscribeResource({ uri })
  const stream =
    dialect === 'legacy'
      ? undefined
      : await client.listen({
          resourceSubscriptions: uris,
          resourcesListChanged: true,
          promptsListChanged: true,
        })
  return {
    ...common,
    follow: (uri) => client.subscribeResource({ uri }),
    unfollow: (uri) => client.unsubscribeResource({ uri }),
    ended: stream?.closed ?? ended,
    close: () => client.close(),
  }
}
