// @module-tag full
// @module-tag sampled
/** Changed deliveries to inbound webhooks of several forms are answered without a fault of the server. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { changed, faultIn, fuzz, odd, textOf } from '../support/fuzz.ts'
import { openWorld, type World } from '../support/world.ts'

const KEY = 'a-secret-of-the-sender'
const PAYLOAD = {
  id: 'e1',
  kind: 'order',
  issue: { number: 7, title: 'Broken', labels: [{ name: 'bug' }, { name: 'old' }] },
  items: [
    { sku: 'a', qty: 1 },
    { sku: 'b', qty: 2 },
  ],
}
const SCHEMA = { type: 'object', properties: { title: { type: 'string' }, qty: { type: 'integer' } } }
/** Mappings of payloads. */
const MAPPINGS = [
  undefined,
  { external_id: '$.issue.number', data: { title: '$.issue.title', first: '$.issue.labels[0].name' } },
  { items: '$.items', external_id: '$.sku', data: { qty: '$.qty', of: '$$.id' } },
]

let world: World
const paths: string[] = []
beforeAll(async () => {
  world = await openWorld()
  for (const [n, mapping] of MAPPINGS.entries()) {
    const recordType = await world.newType({ json_schema: SCHEMA })
    const body = {
      record_type: recordType,
      signature: { scheme: 'hmac', header: 'X-Sig' },
      secret: KEY,
      ...(mapping && { mapping }),
    }
    const made = succeed(await world.call('PUT', `/v1/crm/inbound-webhooks/hook${n}`, body), 201)
    paths.push(new URL(made.ingest_url).pathname)
  }
})
afterAll(() => world.close())

type Change = { hook: number; part: number; path: number[]; by: unknown; how: number }
const changes: fc.Arbitrary<Change> = fc.record({
  hook: fc.nat(2),
  part: fc.nat(5),
  path: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
  by: odd,
  how: fc.nat(4),
})
const TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'application/xml', '']

async function send({ hook, part, path: at, by, how }: Change): Promise<{ status: number; text: string }> {
  const text = textOf(by).toWellFormed()
  const payload = part === 5 ? text : JSON.stringify(changed(PAYLOAD, at, by, how))
  const signature = createHmac('sha256', KEY).update(payload).digest('hex')
  const path =
    part === 0
      ? `${(paths[hook] ?? '').slice(0, 8 + how)}${encodeURIComponent(text.slice(0, 500))}`
      : paths[hook]
  const response = await fetch(
    `${world.url}${path}${part === 1 ? `?${encodeURIComponent(text.slice(0, 500))}=1` : ''}`,
    {
      method: 'POST',
      headers: {
        'content-type': part === 2 ? (TYPES[how] ?? '') : 'application/json',
        'x-sig': part === 3 ? text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 500) : signature,
      },
      body: payload,
    },
  )
  return { status: response.status, text: await response.text() }
}

test(
  'every changed delivery is answered, without what only the server knows',
  async () => {
    const answered = new Set<number>()
    const found = await fuzz(changes, 800, async (change) => {
      const { status, text } = await send(change)
      answered.add(status)
      return faultIn(status, text, change.by)
    })
    expect(found).toEqual([])
    expect([...answered].sort()).toEqual(expect.arrayContaining([200, 400, 401]))
  },
  CASES_TIMEOUT,
)
