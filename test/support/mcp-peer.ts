/** An MCP client of either era that answers server requests and records notifications. */
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { type Door, transportOne, transportTwo } from './mcp-drivers.ts'
import type { Body } from './server.ts'

/** The client's answers to server requests. */
export type Answering = {
  elicitation?: (params: Body) => Body
  sampling?: (params: Body) => Body
  roots?: () => Body
}
type Options = { signal?: AbortSignal; onprogress?: (progress: Body) => void }
export type Peer = {
  /** Received notifications. */
  heard: { method: string; params?: Body }[]
  request(method: string, params?: Record<string, unknown>, options?: Options): Promise<Body>
  /** Subscribes to list changes and to one resource. */
  follow(uri: string): Promise<void>
  close(): Promise<void>
}

const INFO = { name: 'peer', version: '1.0.0' }

const capabilitiesOf = ({ elicitation, sampling, roots }: Answering) => ({
  ...(elicitation && { elicitation: {} }),
  ...(sampling && { sampling: {} }),
  ...(roots && { roots: {} }),
})

async function legacyPeer(door: Door, answering: Answering): Promise<Peer> {
  const client = new Client(INFO, { capabilities: capabilitiesOf(answering) })
  const { elicitation, sampling, roots } = answering
  if (elicitation) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => elicitation(params))
  if (sampling) client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => sampling(params))
  if (roots) client.setRequestHandler(ListRootsRequestSchema, async () => roots())
  const heard: Peer['heard'] = []
  for (const schema of [
    LoggingMessageNotificationSchema,
    ToolListChangedNotificationSchema,
    PromptListChangedNotificationSchema,
    ResourceUpdatedNotificationSchema,
  ])
    client.setNotificationHandler(schema, (notification) => void heard.push(notification))
  await client.connect(transportOne(door))
  return {
    heard,
    request: (method, params, options) =>
      client.request({ method, ...(params && { params }) }, ResultSchema, options),
    follow: async (uri) => void (await client.subscribeResource({ uri })),
    close: () => client.close(),
  }
}

async function modernPeer(door: Door, answering: Answering): Promise<Peer> {
  const client = new ModernClient(INFO, {
    capabilities: capabilitiesOf(answering),
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  })
  const { elicitation, sampling, roots } = answering
  if (elicitation) client.setRequestHandler('elicitation/create', async ({ params }) => elicitation(params))
  if (sampling) client.setRequestHandler('sampling/createMessage', async ({ params }) => sampling(params))
  if (roots) client.setRequestHandler('roots/list', async () => roots())
  const heard: Peer['heard'] = []
  for (const method of [
    'notifications/message',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/resources/updated',
  ] as const)
    client.setNotificationHandler(method, (notification) => void heard.push(notification))
  await client.connect(transportTwo(door))
  return {
    heard,
    request: (method, params = {}, options) => {
      // In this era each request sets its own log level.
      const _meta = { 'io.modelcontextprotocol/logLevel': 'info' }
      return client.request({ method, params: { ...params, _meta } } as never, options)
    },
    follow: async (uri) =>
      void (await client.listen({
        toolsListChanged: true,
        promptsListChanged: true,
        resourceSubscriptions: [uri],
      })),
    close: () => client.close(),
  }
}

export const PEERS = { legacy: legacyPeer, modern: modernPeer }
