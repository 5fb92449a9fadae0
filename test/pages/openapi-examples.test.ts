/** The examples of the OpenAPI description are requests that succeed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { FAILED_DELIVERY } from '../support/kinds.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import type { Body } from '../support/server.ts'
import { eventually } from '../support/until.ts'
import { openWorld, type World } from '../support/world.ts'

type Operation = { method: string; path: string; operation: Body }

let world: World
let receiver: Receiver
let operations: ReadonlyMap<string, Operation>
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const { paths } = (await world.as(null)('GET', '/openapi.json')).body
  operations = new Map(
    Object.entries<Body>(paths).flatMap(([path, item]) =>
      Object.entries<Body>(item).map(([method, operation]) => [
        operation.operationId,
        { method: method.toUpperCase(), path, operation },
      ]),
    ),
  )
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

/** The request of an example, with the id that the server has made in place of the one in the example. */
function requestOf(
  name: string,
  made?: string,
): { method: string; url: string; body: unknown; type: string } {
  const { method, path, operation } = operations.get(name) ?? expect.fail(`no operation ${name}`)
  const query = new URLSearchParams()
  let url = path
  for (const { name: field, in: place, example } of operation.parameters ?? []) {
    if (place === 'path') url = url.replace(`{${field}}`, encodeURI(String(example)))
    else if (example !== undefined) query.set(field, String(example))
  }
  const [[type = '', content] = []] = Object.entries<Body>(operation.requestBody?.content ?? {})
  const put = (text: string) =>
    made === undefined ? text : text.replaceAll(MADE, made).replace('/changes/3/', `/changes/${made}/`)
  return {
    method,
    url: put(query.size > 0 ? `${url}?${query}` : url),
    body: content?.example === undefined ? undefined : JSON.parse(put(JSON.stringify(content.example))),
    type,
  }
}

const MADE = '01990000-0000-7000-8000-000000000001'

const send = (name: string, made?: string) => {
  const { method, url, body, type } = requestOf(name, made)
  const sent = typeof body === 'string' ? 'text/plain' : type
  return world.call(method, url, body, sent === '' ? {} : { 'content-type': sent })
}

/** Requests that make what the examples are sent to. The deletion of the base before them removes what is left. */
async function makeBase(): Promise<void> {
  await world.call('DELETE', '/v1/bases/crm?confirm=crm')
  succeed(await send('bases.upsert'), 201)
  succeed(await send('recordTypes.upsert'), 201)
  // Nothing names this type, so that it can be deleted.
  succeed(await world.call('PUT', '/v1/crm/record-types/lead', {}), 201)
  const typed = { json_schema: { type: 'object', properties: { name: { type: 'string' } } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/company', typed), 201)
  for (const name of [
    'relationshipTypes.upsert',
    'fileTypes.upsert',
    'toolsets.upsert',
    'endpoints.upsert',
    'actions.upsert',
  ])
    succeed(await send(name), 201)
  for (const name of ['inboundWebhooks.upsert', 'previews.create', 'seeds.upsert'])
    succeed(await send(name), 201)
  await world.call('DELETE', '/v1/vault/secrets/CHAT_KEY')
  succeed(await send('secrets.upsert'), 201)
  const trigger = { ...Object(requestOf('triggers.upsert').body), url: `${receiver.url}/won` }
  succeed(await world.call('PUT', '/v1/crm/triggers/won', trigger), 201)
  succeed(await world.call('PUT', '/v1/crm/records/company/acme', { data: { name: 'Acme' } }), 201)
  for (const id of ['d1', 'd2'])
    succeed(
      await world.call('PUT', `/v1/crm/records/deal/${id}`, {
        data: { title: 'Anvils', amount: 1500, stage: 'open' },
      }),
      201,
    )
  succeed(await send('relationships.upsert'), 201)
  succeed(await send('files.upload'), 201)
  succeed(await send('attachments.create'), 201)
}

const idOf = async (name: string): Promise<string> => succeed(await send(name), 201).id
const claimed = async (): Promise<string> => succeed(await send('claims.create')).data[0].claim.id
async function promoted(): Promise<string> {
  succeed(await world.call('PUT', '/v1/crm--dev/record-types/prospect', {}), 201)
  return succeed(await send('promotions.create')).id
}
async function asked(): Promise<string> {
  succeed(await world.call('PUT', '/v1/crm--dev/record-types/prospect', {}), 201)
  const id = await idOf('reviewRequests.create')
  // Nobody decides what they asked for themselves.
  await world.database.query('UPDATE plinth.review_request SET token_id = NULL, own_token = NULL')
  return id
}
const delivered = () =>
  eventually(async () => {
    await send('triggers.test')
    const { data } = succeed(await world.call('GET', '/v1/crm/triggers/won/deliveries?status=succeeded'))
    return data[0]?.id as string | undefined
  })

/** Changes a deal, and returns the seq of the change. */
async function lastChange(): Promise<string> {
  succeed(await send('records.update'))
  return (await world.logOf('deal', 'd1')).at(-1)?.seq ?? expect.fail('no change')
}

/** Changes a deal in a change-set. */
async function drafted(): Promise<string> {
  const fix = { name: 'fix', copy: 'on_write' }
  succeed(await world.call('POST', '/v1/crm/preview', fix), 201)
  succeed(await world.call('PATCH', '/v1/crm--fix/records/deal/d1', { data: { stage: 'won' } }))
  return 'fix'
}

/** Rejects a change-set. */
async function rejected(): Promise<string> {
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'lost', copy: 'on_write' }), 201)
  succeed(await world.call('POST', '/v1/crm--lost/reviews', { verdict: 'reject' }), 201)
  return 'lost'
}

/** Makes what an example names by an id of the server's, and returns the id. */
const MAKERS: Readonly<Record<string, () => Promise<string>>> = {
  'promotions.get': promoted,
  'previews.discard': drafted,
  'previews.submit': drafted,
  'previews.review': drafted,
  'previews.reviews': drafted,
  'previews.reopen': rejected,
  'reviewRequests.get': asked,
  'reviewRequests.decision': asked,
  'promotions.rollBack': promoted,
  's3Credentials.delete': () => idOf('s3Credentials.create'),
  'tokens.get': () => idOf('tokens.create'),
  'tokens.delete': () => idOf('tokens.create'),
  'tokens.pause': () => idOf('tokens.create'),
  'tokens.resume': async () => {
    const id = await idOf('tokens.create')
    succeed(await world.call('POST', `/v1/crm/tokens/${id}/pause`, {}))
    return id
  },
  'attachments.delete': () => idOf('attachments.create'),
  'claims.get': claimed,
  'claims.heartbeat': claimed,
  'claims.release': claimed,
  'claims.complete': claimed,
  'claims.heartbeatAll': claimed,
  'claims.releaseAll': claimed,
  'claims.completeAll': claimed,
  'triggerDeliveries.replay': delivered,
  'actionRuns.get': async () => succeed(await send('actions.run')).run_id,
  'changes.trace': lastChange,
  'changes.revert': lastChange,
  'changes.revertAll': async () =>
    (await send('records.update')).headers.get('x-request-id') ?? expect.fail('no request id'),
  'inboundDeliveries.replay': async () => {
    succeed(await world.call('PATCH', '/v1/crm/inbound-webhooks/shop', { mapping: null }))
    await world.database.query(FAILED_DELIVERY, ['crm', 'shop'])
    return 'failed'
  },
}

test('every example is a request that succeeds', { tags: 'full', timeout: 600_000 }, async () => {
  let isChanged = true
  const failed: string[] = []
  for (const [name, { method, path }] of operations) {
    // The token of this server is one of its settings, which no request replaces. The file of a base is no text.
    if (!path.startsWith('/v1/') || ['changes.stream', 'tokens.rotateAdmin', 'bases.import'].includes(name))
      continue
    if (isChanged) await makeBase()
    isChanged = method !== 'GET'
    const made = await MAKERS[name]?.()
    if (made !== undefined) isChanged = true
    if (name === 'previews.create') succeed(await world.call('DELETE', '/v1/bases/crm--dev'))
    if (name === 'records.restore') succeed(await send('records.cancel'))
    if (name === 'relationships.create') succeed(await send('relationships.deleteByEnds'))
    const { status, text } = await send(name, made)
    if (status >= 300) failed.push(`${name} ${text}`)
  }
  expect(failed).toEqual([])
})

test('every operation has a method name, a description, and an example of its body', () => {
  for (const [name, { operation }] of operations) {
    expect(name).toMatch(/^[a-z]\w*\.[a-z]\w*$/i)
    expect(operation.description, name).toBeTruthy()
    for (const { in: place, example } of operation.parameters ?? [])
      if (place === 'path') expect(example, name).toBeDefined()
    const contents = Object.values<Body>(operation.requestBody?.content ?? {})
    const isRequired = operation.requestBody?.required === true
    if (isRequired)
      expect(
        contents.some(({ example }) => example !== undefined),
        name,
      ).toBe(true)
  }
})
