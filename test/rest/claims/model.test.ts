// @module-tag full
// @module-tag sampled
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import type { Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let call: Call
beforeAll(async () => {
  world = await openWorld()
  call = (await world.newToken([{ permission: 'write' }])).call
})
afterAll(() => world.close())

let serial = 0
const RECORDS = 3
const MOST = 2

/** The expected state of a record and its last claim. */
type Entry = {
  version: number
  active: boolean
  last: null | { id: string; state: 'held' | 'over' | 'completed'; version: number; attempts: number }
}
type Model = Entry[]
type Real = { type: string }

const isFree = ({ version, active, last }: Entry): boolean => {
  if (!active || last?.state === 'held') return false
  if (!last || last.version !== version) return true
  return last.state === 'over' && last.attempts < MOST
}
const attemptsOf = ({ version, last }: Entry): number => {
  const isNew = !last || last.state === 'completed' || (last.version !== version && last.attempts >= MOST)
  return isNew ? 1 : last.attempts + 1
}

class Claim implements fc.AsyncCommand<Model, Real> {
  readonly patches: boolean
  constructor(patches: boolean) {
    this.patches = patches
  }
  check = () => true
  toString = () => (this.patches ? 'claim and patch' : 'claim')
  async run(model: Model, { type }: Real) {
    const body = { max_attempts: MOST, sort: 'id', ...(this.patches && { patch: { at: ++serial } }) }
    const { data } = succeed(await call('POST', `/v1/crm/records/${type}/claim`, body))
    const n = model.findIndex(isFree)
    const entry = model[n]
    expect(data.map((each: { record: { id: string } }) => each.record.id)).toEqual(entry ? [`r${n}`] : [])
    if (!entry) return
    const attempts = attemptsOf(entry)
    expect(data[0].claim.attempts).toBe(attempts)
    if (this.patches) entry.version++
    expect(data[0].record.version).toBe(entry.version)
    entry.last = { id: data[0].claim.id, state: 'held', version: entry.version, attempts }
  }
}

/** An action on the record `n`, or on its last claim. */
class Act implements fc.AsyncCommand<Model, Real> {
  readonly name:
    | 'heartbeat'
    | 'release'
    | 'complete'
    | 'expire'
    | 'write'
    | 'write under it'
    | 'cancel'
    | 'restore'
    | 'write in a batch'
    | 'write of another'
    | 'force'
    | 'delete under it'
    | 'make again'
    | 'undo'
  readonly n: number
  constructor(name: Act['name'], n: number) {
    this.name = name
    this.n = n
  }
  check = (model: Readonly<Model>) =>
    model[this.n]?.last !== null || ['write', 'cancel', 'restore', 'make again', 'undo'].includes(this.name)
  toString = () => `${this.name} r${this.n}`

  async run(model: Model, { type }: Real) {
    const entry = model[this.n] as Entry
    const { last } = entry
    const path = `/v1/crm/records/${type}/r${this.n}`
    const isHeld = last?.state === 'held'
    switch (this.name) {
      case 'write':
        entry.version = succeed(await call('PATCH', path, { data: { at: entry.version } })).version
        return
      case 'cancel':
      case 'restore':
        entry.version = succeed(await call('POST', `${path}/${this.name}`)).version
        entry.active = this.name === 'restore'
        return
      case 'write under it': {
        const answer = await call('PATCH', path, { data: { at: entry.version }, claim_id: last?.id })
        expect(answer.status).toBe(isHeld ? 200 : 409)
        if (last && isHeld) last.version = entry.version = answer.body.version
        return
      }
      case 'write in a batch': {
        const write = { type: 'patch_record', record_type: type, id: `r${this.n}` }
        const operations = [
          { ...write, data: { at: ++serial }, claim_id: last?.id },
          { ...write, data: { at: ++serial } },
        ]
        const answer = await call('POST', '/v1/crm/batch', { operations })
        expect(answer.status, answer.text).toBe(isHeld ? 200 : 409)
        if (!last || !isHeld) return
        entry.version += 2
        last.version = answer.body.data[0].version
        return
      }
      case 'write of another':
        expect((await world.call('PATCH', path, { data: { at: ++serial }, claim_id: last?.id })).status).toBe(
          409,
        )
        return
      case 'force':
        expect((await world.call('POST', `/v1/crm/claims/${last?.id}/release?force=true`)).status).toBe(
          isHeld ? 200 : 409,
        )
        if (last && isHeld) last.state = 'over'
        return
      case 'delete under it':
        expect((await call('DELETE', `${path}?claim_id=${last?.id}`)).status).toBe(isHeld ? 200 : 409)
        if (!isHeld) return
        entry.version = succeed(await call('PUT', path, { data: {} }), 201).version
        Object.assign(entry, { last: null, active: true })
        return
      case 'make again':
        succeed(await call('DELETE', path))
        entry.version = succeed(await call('PUT', path, { data: {} }), 201).version
        Object.assign(entry, { last: null, active: true })
        return
      case 'undo': {
        const { data } = succeed(await call('GET', `${path}/history?limit=1`))
        const { operation, request_id, seq } = data[0]
        if (operation === 'create') return
        const undone = succeed(await call('POST', '/v1/crm/revert', { request_id }))
        expect(undone.data.some(({ reverts }: { reverts: number }) => reverts === seq)).toBe(true)
        const now = succeed(await call('GET', path))
        Object.assign(entry, { version: now.version, active: now.status === 'active' })
        return
      }
      case 'expire':
        await world.database.query(
          `UPDATE plinth.claim SET expires_at = now() - interval '1 ms' WHERE id = $1`,
          [last?.id],
        )
        if (last && isHeld) last.state = 'over'
        return
      default: {
        const isDone = last?.state === 'completed' && last.version === entry.version
        const { status } = await call('POST', `/v1/crm/claims/${last?.id}/${this.name}`)
        expect(status).toBe(isHeld || (this.name === 'complete' && isDone) ? 200 : 409)
        if (!last || !isHeld || this.name === 'heartbeat') return
        last.state = this.name === 'release' ? 'over' : 'completed'
        if (this.name === 'complete') last.version = entry.version
      }
    }
  }
}

test('claims follow a model under random sequences of claims, writes and expiries', {
  timeout: CASES_TIMEOUT,
}, async () => {
  const names: Act['name'][] = [
    'heartbeat',
    'release',
    'complete',
    'expire',
    'write',
    'write under it',
    'cancel',
    'restore',
    'write in a batch',
    'write of another',
    'force',
    'delete under it',
    'make again',
    'undo',
  ]
  const commands = [
    fc.boolean().map((patches) => new Claim(patches)),
    fc.tuple(fc.constantFrom(...names), fc.nat({ max: RECORDS - 1 })).map(([name, n]) => new Act(name, n)),
  ]
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 30 }), async (run) => {
    const type = await world.newType()
    for (const n of times(RECORDS, (i) => i))
      succeed(await call('PUT', `/v1/crm/records/${type}/r${n}`, { data: {} }), 201)
    const model = times(RECORDS, (): Entry => ({ version: 1, active: true, last: null }))
    await fc.asyncModelRun(() => ({ model, real: { type } }), run)
  })
  // On failure fast-check prints the seed and the shortest failing sequence.
  await fc.assert(property, { numRuns: cases(12) })
})
