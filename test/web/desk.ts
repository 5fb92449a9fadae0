/**
 * The support desk that the pages are tested with, made over the public interfaces alone. A running server that
 * may reach 127.0.0.1 (`PLINTH_ALLOW_PRIVATE_TARGETS`) gets it with `node test/web/desk.ts <url> <admin token>`,
 * which prints a token for each author.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Body, type Call, caller } from '../support/caller.ts'
import { answering, openReceiver, type Receiver } from '../support/receiver.ts'
import { type Author, makeTokens } from './desk-authors.ts'
import { type Send, sender } from './desk-calls.ts'
import type { Cast } from './desk-cast.ts'
import {
  BASE,
  FILE_TYPES,
  RECORD_TYPES,
  RELATIONSHIP_TYPES,
  REPLY_ENDPOINT,
  triggersTo,
} from './desk-schema.ts'
import { tellStory } from './desk-story.ts'
import { DOUBLE_CHARGE, makeTickets, type Tickets } from './desk-tickets.ts'

export type Desk = {
  base: string
  tokens: Record<Author, { id: string; token: string }>
  tickets: Tickets
}

/** Webhooks that the story sends: surveys, VIP channel, Slack. */
const DELIVERIES = 55 + 21 + 5
const PATIENCE_MS = 30_000

type Server = { adminToken: string; as(token: string): Call }

/** What the receivers answer: surveys are sent, the VIP channel is unknown, Slack fails but for one ticket. */
export function answerAsReceiver(receiver: Receiver): void {
  receiver.on('/survey', answering(204))
  receiver.on('/vip', answering(422, 'unknown channel #support-vip'))
  receiver.on('/slack', (received, response) => {
    const works = received.body.data.record.id === DOUBLE_CHARGE
    response.writeHead(works ? 204 : 503).end(works ? '' : 'upstream connect error')
  })
}

export async function makeDesk(server: Server, receiver: string): Promise<Desk> {
  const admin = sender(server.as(server.adminToken))
  await admin('PUT', `/v1/bases/${BASE}`, { name: 'Support desk' })
  const put = (noun: string, all: Record<string, object>) =>
    Object.entries(all).reduce<Promise<unknown>>(
      (before, [id, body]) => before.then(() => admin('PUT', `/v1/${BASE}/${noun}/${id}`, body)),
      Promise.resolve(),
    )
  await put('record-types', RECORD_TYPES)
  await put('relationship-types', RELATIONSHIP_TYPES)
  await put('file-types', FILE_TYPES)
  await put('endpoints', { reply: REPLY_ENDPOINT })
  const tokens = await makeTokens(admin)
  const tickets = makeTickets()
  const cast: Cast = {
    admin,
    call: (author) => server.as(tokens[author].token),
    send: (author) => sender(server.as(tokens[author].token)),
    triggers: triggersTo(receiver),
  }
  await tellStory(cast, tickets)
  await settle(admin)
  return { base: BASE, tokens, tickets }
}

/** Waits until each webhook was sent, and answered or given up. */
async function settle(admin: Send): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const { data } = await admin('GET', `/v1/${BASE}/deliveries?direction=out&limit=100`)
    const ended = data.filter(({ status }: Body) => status === 'succeeded' || status === 'dead')
    if (ended.length === DELIVERIES) return
    if (Date.now() > deadline) throw new Error(`Of ${DELIVERIES} deliveries, ${ended.length} have ended`)
  }
}

if (import.meta.main) {
  const [url, adminToken] = process.argv.slice(2)
  if (!url || !adminToken) throw new Error('node test/web/desk.ts <url> <admin token>')
  const receiver = await openReceiver()
  answerAsReceiver(receiver)
  try {
    const { tokens } = await makeDesk({ adminToken, as: (token) => caller(url, token) }, receiver.url)
    const byAuthor = Object.entries(tokens).map(([author, { token }]) => [author, token])
    process.stdout.write(`${JSON.stringify(Object.fromEntries(byAuthor), null, 2)}\n`)
  } finally {
    await receiver.close()
  }
}
