/** What ordinary clients do, and how long each answer takes. */
import { setTimeout as sleep } from 'node:timers/promises'

export type Asked = { kind: string; ms: number; status: number }

const BASE = 'shop'
const TYPE = {
  json_schema: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      stage: { enum: ['open', 'won', 'lost'] },
      amount: { type: 'number' },
    },
    additionalProperties: false,
  },
  indexes: [{ fields: ['data.stage', { field: 'data.amount', direction: 'desc' }] }],
}
const STAGES = ['open', 'won', 'lost'] as const
const content = (n: number) => ({ title: `Order ${n}`, stage: STAGES[n % 3], amount: n })

type Call = (method: string, path: string, body?: object) => Promise<number>
export const caller =
  (url: string, token: string): Call =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    await response.arrayBuffer()
    return response.status
  }

const upserts = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    type: 'upsert_record',
    record_type: 'order',
    id: `o${from + i}`,
    data: content(from + i),
  }))

const RECORDS = 5000
export async function prepareShop(call: Call): Promise<void> {
  await call('PUT', `/v1/bases/${BASE}`, {})
  await call('PUT', `/v1/${BASE}/record-types/order`, TYPE)
  for (let from = 0; from < RECORDS; from += 1000)
    await call('POST', `/v1/${BASE}/batch`, { operations: upserts(from, 1000) })
}

const stageOpen = encodeURIComponent(JSON.stringify({ field: 'data.stage', op: 'eq', value: 'open' }))
const KINDS: Readonly<Record<string, (call: Call, n: number) => Promise<number>>> = {
  get: (call, n) => call('GET', `/v1/${BASE}/records/order/o${n}`),
  put: (call, n) => call('PUT', `/v1/${BASE}/records/order/o${n}`, { data: content(n + 1) }),
  list: (call) => call('GET', `/v1/${BASE}/records/order?filter=${stageOpen}&sort=-data.amount&limit=20`),
  newest: (call) => call('GET', `/v1/${BASE}/records/order?limit=20`),
  batch: (call, n) => call('POST', `/v1/${BASE}/batch`, { operations: upserts(n, 20) }),
  aggregate: (call) =>
    call('POST', `/v1/${BASE}/records/order/aggregate`, {
      aggregations: [{ fn: 'count' }],
      group_by: ['data.stage'],
    }),
  mcp: (call, n) =>
    call('POST', `/mcp/${BASE}`, {
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'create_order', arguments: content(n) },
    }),
}

/** One client: a request of each kind in turn, with a pause between, until it is told to end. */
export async function client(call: Call, seed: number, isOver: () => boolean, note: (asked: Asked) => void) {
  for (let n = seed; !isOver(); n += 7)
    for (const [kind, ask] of Object.entries(KINDS)) {
      const begun = performance.now()
      const status = await ask(call, n % RECORDS)
      note({ kind, status, ms: performance.now() - begun })
      await sleep(100)
    }
}
