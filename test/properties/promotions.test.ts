// @module-tag full
// @module-tag sampled
/** Random edits on both sides of a fork merge or conflict, and are never lost. */
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

/** What is edited: a resource of each kind that has a text of its own, with a body that has it. */
const STEP = { name: 'one', type: 'create_record', record_type: 'fixed' }
const RESOURCES: Readonly<Record<string, (text: string) => object>> = {
  'record_type/a': (description) => ({ description }),
  'record_type/b': (description) => ({ description }),
  'record_type/sourced': (description) => ({
    ...{
      description,
      sources: [{ name: 'x', get: { url: `https://e.com/${description}/{{external_id}}` } }],
    },
  }),
  'file_type/f': (description) => ({ description, metadata_schema: { title: description } }),
  'action/act': (description) => ({ description, steps: [{ ...STEP, data: { v: description } }] }),
  'trigger/t': (description) => ({
    ...{ description, record_types: ['fixed'], url: `https://e.com/${description}`, enabled: false },
  }),
  'inbound_webhook/w': (name) => ({ name, record_type: 'fixed', mapping: { data: { [`f${name}`]: '$.x' } } }),
  'endpoint/e': (description) => ({
    ...{ description, tools: [{ record_type: 'fixed', operations: ['get'] }] },
  }),
}
const KEYS = Object.keys(RESOURCES)
type State = Record<string, string>
/** A text for each resource that the side has. */
const state = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom('1', '2', '3'), {
  maxKeys: KEYS.length,
})

const bodyOf = (key: string, text: string) => RESOURCES[key]?.(text) ?? {}
const kindOf = (key: string) => key.split('/', 1)[0] ?? ''
const idOf = (key: string) => key.split('/')[1] ?? ''
const FIXED = { id: 'fixed' }

const fileOf = (base: string, of: State) => {
  const lists: Record<string, object[]> = { record_types: [FIXED] }
  for (const key of KEYS) lists[`${kindOf(key)}s`] ??= []
  for (const [key, text] of Object.entries(of))
    lists[`${kindOf(key)}s`]?.push({ id: idOf(key), ...bodyOf(key, text) })
  return { plinth: 1, base, ...lists }
}
/** Gives a preview the state. */
const become = async (base: string, of: State) =>
  succeed(await world.call('PUT', `/v1/${base}/config?prune=true`, fileOf(base, of)))
/** The state of a base. Each resource is whole: all that its body sets is of the same text. */
const stateOf = async (base: string): Promise<State> => {
  const config = succeed(await world.call('GET', `/v1/${base}/config`))
  const found: State = {}
  for (const key of KEYS) {
    const resource = config[`${kindOf(key)}s`].find(({ id }: Body) => id === idOf(key))
    if (!resource) continue
    found[key] = resource.description ?? resource.name
    expect(resource).toMatchObject(bodyOf(key, found[key] ?? ''))
  }
  return found
}

/** Brings a production base to a state with plain requests. */
async function produce(base: string, from: State, to: State): Promise<void> {
  for (const key of KEYS) {
    const path = `/v1/${base}/${kindOf(key).replace('_', '-')}s/${idOf(key)}`
    const text = to[key]
    if (text === undefined && from[key] !== undefined) succeed(await world.call('DELETE', path))
    if (text !== undefined && text !== from[key])
      succeed(await world.call('PUT', path, bodyOf(key, text)), from[key] === undefined ? 201 : 200)
  }
}

test('random edits on both sides merge or conflict, and a rollback restores production', {
  timeout: CASES_TIMEOUT,
}, async () => {
  await forAll(fc.tuple(state, state, state), 60, async ([at, ours, theirs]) => {
    const base = `random${++serial}`
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    succeed(await world.call('PUT', `/v1/${base}/record-types/fixed`, {}), 201)
    await produce(base, {}, at)
    succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
    await produce(base, at, ours)
    await become(`${base}--dev`, theirs)
    const pulled = succeed(await world.call('GET', `/v1/${base}--dev/config`))
    const pushed = succeed(await world.call('PUT', `/v1/${base}--dev/config?prune=true`, pulled))
    expect(pushed).toEqual({ changes: [], summary: { create: 0, update: 0, delete: 0 }, hash: pulled.hash })
    const changed = (side: State, key: string) => side[key] !== at[key]
    const conflicts = KEYS.filter(
      (key) => changed(ours, key) && changed(theirs, key) && ours[key] !== theirs[key],
    )
    const body = { from: `${base}--dev`, prune: true }
    const answer = await world.call('POST', `/v1/${base}/promote`, body)
    if (conflicts.length > 0) {
      expect([answer.status, await stateOf(base)]).toEqual([409, ours])
      expect(answer.body.error.details.map(({ path }: Body) => path).sort()).toEqual(
        conflicts.map((key) => `/${key}`).sort(),
      )
      return
    }
    const merged = Object.fromEntries(
      KEYS.flatMap((key) => {
        const is = changed(theirs, key) ? theirs[key] : ours[key]
        return is === undefined ? [] : [[key, is]]
      }),
    )
    expect([answer.status, await stateOf(base), await stateOf(`${base}--dev`)]).toEqual([200, merged, theirs])
    const { id, changes } = answer.body
    expect(id === null).toBe(changes.length === 0)
    if (id === null) return
    succeed(await world.call('POST', `/v1/${base}/promote/rollback`, { promotion_id: id }))
    expect(await stateOf(base)).toEqual(ours)
    const again = succeed(await world.call('POST', `/v1/${base}/promote`, body))
    expect([again.changes, await stateOf(base)]).toEqual([changes, merged])
  })
})
