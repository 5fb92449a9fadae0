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

const TYPES = ['a', 'b', 'c', 'd']
type State = Record<string, string>
/** A description for each type that the side has. */
const state = fc.dictionary(fc.constantFrom(...TYPES), fc.constantFrom('1', '2', '3'), { maxKeys: 4 })

const fileOf = (base: string, of: State) => ({
  plinth: 1,
  base,
  record_types: Object.entries(of).map(([id, description]) => ({ id, description })),
})
/** Gives a preview the state. */
const become = async (base: string, of: State) =>
  succeed(await world.call('PUT', `/v1/${base}/config?prune=true`, fileOf(base, of)))
const stateOf = async (base: string): Promise<State> => {
  const { record_types } = succeed(await world.call('GET', `/v1/${base}/config`))
  return Object.fromEntries(record_types.map(({ id, description }: Body) => [id, description]))
}

/** Brings a production base to a state with plain requests. */
async function produce(base: string, from: State, to: State): Promise<void> {
  for (const id of TYPES) {
    const path = `/v1/${base}/record-types/${id}`
    if (to[id] === undefined && from[id] !== undefined) succeed(await world.call('DELETE', path))
    if (to[id] !== undefined && to[id] !== from[id])
      succeed(await world.call('PUT', path, { description: to[id] }), from[id] === undefined ? 201 : 200)
  }
}

test('random edits on both sides merge or conflict, and a rollback restores production', {
  timeout: CASES_TIMEOUT,
}, async () => {
  await forAll(fc.tuple(state, state, state), 60, async ([at, ours, theirs]) => {
    const base = `random${++serial}`
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    await produce(base, {}, at)
    succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
    await produce(base, at, ours)
    await become(`${base}--dev`, theirs)
    const pulled = succeed(await world.call('GET', `/v1/${base}--dev/config`))
    const pushed = succeed(await world.call('PUT', `/v1/${base}--dev/config?prune=true`, pulled))
    expect(pushed).toEqual({ changes: [], summary: { create: 0, update: 0, delete: 0 }, hash: pulled.hash })
    const changed = (side: State, id: string) => side[id] !== at[id]
    const conflicts = TYPES.filter(
      (id) => changed(ours, id) && changed(theirs, id) && ours[id] !== theirs[id],
    )
    const body = { from: `${base}--dev`, prune: true }
    const answer = await world.call('POST', `/v1/${base}/promote`, body)
    if (conflicts.length > 0) {
      expect([answer.status, await stateOf(base)]).toEqual([409, ours])
      expect(answer.body.error.details.map(({ path }: Body) => path.split('/')[2])).toEqual(conflicts)
      return
    }
    const merged = Object.fromEntries(
      TYPES.flatMap((id) => {
        const is = changed(theirs, id) ? theirs[id] : ours[id]
        return is === undefined ? [] : [[id, is]]
      }),
    )
    expect([answer.status, await stateOf(base), await stateOf(`${base}--dev`)]).toEqual([200, merged, theirs])
    succeed(await world.call('POST', `/v1/${base}/promote/rollback`, { promotion_id: answer.body.id }))
    expect(await stateOf(base)).toEqual(ours)
    const again = succeed(await world.call('POST', `/v1/${base}/promote`, body))
    expect([again.changes, await stateOf(base)]).toEqual([answer.body.changes, merged])
  })
})
