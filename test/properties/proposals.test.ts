// @module-tag full
// @module-tag sampled
/** A proposal and a promotion agree: what is promotable is promoted, and what is refused was said. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const schema = (properties: object) => ({ json_schema: { type: 'object', properties } })
const one = (operation: string, name: string) => ({
  tools: [{ record_type: 'item', operations: [operation], name_override: name }],
})
const step = (url: string) => [{ name: 'call', type: 'http', method: 'GET', url }]
const SECRET = { 'X-Key': '{{secret:key}}' }
const rows = (data: object) => ({ records: [{ record_type: 'item', external_id: 'a', data }] })
const hook = { record_types: ['item'], url: 'https://e.com/hook', enabled: false }

/** The variants of each resource. What one of them needs, others take away. In the order of references. */
const VARIANTS: Readonly<Record<string, readonly object[]>> = {
  'record-types/item': [
    schema({ n: { type: 'integer' } }),
    schema({ n: { type: 'string' } }),
    { ...schema({ n: { type: 'string' } }), indexes: [{ fields: ['data.n'], type: 'text' }] },
    schema({}),
  ],
  'record-types/extra': [{}, schema({ m: { type: 'boolean' } })],
  'relationship-types/about': [{}, { source_record_types: ['item'], target_record_types: ['extra'] }],
  'file-types/papers': [{}, { metadata_schema: { type: 'object' } }],
  'actions/get_item': [
    { steps: [{ name: 'add', type: 'create_record', record_type: 'item', data: {} }] },
    { steps: [{ ...step('https://e.com/')[0], headers: SECRET }] },
    { steps: [{ name: 'up', type: 'upsert_record_type', id: 'extra' }] },
  ],
  'triggers/hook': [
    { ...hook, condition: { field: 'data.n', op: 'gt', value: 5 } },
    { ...hook, condition: { field: 'data.n', op: 'search', value: 'x' } },
    { ...hook, headers: SECRET },
    { record_types: ['extra'], action: 'get_item', enabled: false },
  ],
  'inbound-webhooks/inbox': [{ record_type: 'item' }, { record_type: 'extra' }],
  'toolsets/shared': [one('get', 'get_item'), one('get', 'read'), one('list', 'find')],
  'endpoints/desk': [
    { toolsets: ['shared'] },
    { actions: ['get_item'] },
    { toolsets: ['shared'], ...one('list', 'find') },
    { toolsets: ['shared'], actions: ['get_item'] },
    {
      tools: [{ record_type: 'item', operations: ['list'], filter: { field: 'data.n', op: 'gt', value: 1 } }],
    },
    {
      tools: [
        { record_type: 'item', operations: ['list'] },
        { record_type: 'extra', operations: ['list'] },
      ],
      relationships: [{ rel_type: 'about', operations: ['link'] }],
    },
  ],
  'seeds/demo': [rows({ n: 1 }), rows({ n: 'x' }), rows({})],
}
const KEYS = Object.keys(VARIANTS)
const kindOf = (key: string) => key.split('/', 1)[0]?.replaceAll('-', '_').slice(0, -1) ?? ''
const idOf = (key: string) => key.split('/')[1] ?? ''

/** Which variant of each resource a side has; absent ones it has not. */
type State = Partial<Record<string, number>>
const state: fc.Arbitrary<State> = fc
  .tuple(...KEYS.map((key) => fc.option(fc.nat((VARIANTS[key]?.length ?? 1) - 1), { freq: 5, nil: -1 })))
  .map((picks) => Object.fromEntries(KEYS.flatMap((key, n) => (picks[n] === -1 ? [] : [[key, picks[n]]]))))
/** Null for all. */
const selection = fc.option(fc.subarray(KEYS, { minLength: 1 }), { freq: 2 })

const secretOf = (base: string) => `key-of-${base.replace('--dev', '')}`
const bodyOf = (base: string, key: string, pick: number): object =>
  JSON.parse(JSON.stringify(VARIANTS[key]?.[pick] ?? {}).replaceAll('secret:key', `secret:${secretOf(base)}`))

/** Brings a base as near to a state as its rules let it. */
async function become(base: string, to: State): Promise<void> {
  for (const key of KEYS) {
    const pick = to[key]
    if (pick !== undefined) await world.call('PUT', `/v1/${base}/${key}`, bodyOf(base, key, pick))
  }
  for (const key of [...KEYS].reverse())
    if (to[key] === undefined)
      await world.call('DELETE', `/v1/${base}/${key}${/types/.test(key) ? `?confirm=${idOf(key)}` : ''}`)
}

test('what a proposal calls promotable is promoted, and it names what a promotion refuses', {
  timeout: CASES_TIMEOUT,
}, async () => {
  await forAll(
    fc.tuple(state, state, state, selection, fc.boolean(), fc.boolean(), fc.boolean()),
    40,
    async ([at, ours, theirs, named, prune, hasData, diverges]) => {
      const base = `agree${++serial}`
      const dev = `${base}--dev`
      succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
      await become(base, at)
      succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
      // Open to the preview alone.
      const secret = { value: 'k', bases: [dev] }
      succeed(await world.call('PUT', `/v1/vault/secrets/${secretOf(base)}`, secret), 201)
      if (diverges) await become(base, ours)
      if (hasData) {
        await world.call('PUT', `/v1/${base}/records/item/r`, { data: { n: 7 } })
        await world.call('PUT', `/v1/${base}/files/papers/a.txt`, 'x')
      }
      await become(dev, theirs)
      const resources = named?.map((key) => ({ kind: kindOf(key), id: idOf(key) }))
      const body = { from: dev, prune, ...(resources && { resources }) }
      const proposed = await world.call('POST', `/v1/${base}/promote/proposal`, body)
      const promoted = await world.call('POST', `/v1/${base}/promote`, body)
      if (proposed.status !== 200) {
        expect(promoted.status).toBe(proposed.status)
        return
      }
      const { conflicts, breaks, changes, meta } = proposed.body
      const said = [
        ...conflicts.map(({ kind, id }: Body) => `/${kind}/${id}`),
        ...breaks.map(({ path, code }: Body) => `${path} ${code}`),
      ]
      const shown = JSON.stringify({ body, said, answer: promoted.body })
      if (said.length === 0) {
        expect(promoted.status, shown).toBe(200)
        expect([promoted.body.changes, promoted.body.meta]).toEqual([changes, meta])
        return
      }
      expect(promoted.status, shown).toBeGreaterThanOrEqual(400)
      for (const { path, code } of promoted.body.error.details)
        expect(said, shown).toContain(code === 'changed_on_both_sides' ? path : `${path} ${code}`)
    },
  )
})
