// @module-tag full
// @module-tag sampled
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

type Held = { data: object; pair: string | null; version: number; cancelled: boolean }
/** The expected state of the record type: its records, and the last version of every id ever used. */
type Model = {
  records: Map<string, Held>
  versions: Map<string, number>
  /** The last deleted record of each id. */
  trash: Map<string, Held>
}
/** The precondition of a write: the current version, another one, absence, or none. */
type Condition = 'none' | 'current' | 'stale' | 'absent'
type Command =
  | { op: 'put' | 'post'; id: string; data: object; pair: string | null; condition: Condition }
  | { op: 'putPair'; data: object; pair: string; condition: Condition }
  | { op: 'patch'; id: string; data: Record<string, unknown>; pair: string | null; condition: Condition }
  | { op: 'cancel' | 'restore' | 'delete'; id: string; condition: Condition }

const id = fc.constantFrom('a', 'b', 'c')
const pair = fc.constantFrom('p', 'q')
const maybePair = fc.option(pair, { freq: 2 })
const value = fc.constantFrom<unknown>(1, 2, 'x', null, [1], { deep: 1 })
const data = fc.dictionary(fc.constantFrom('k', 'l'), value, { maxKeys: 2, noNullPrototype: true })
const condition = fc.constantFrom<Condition>('none', 'none', 'none', 'current', 'stale')
const creating = fc.constantFrom<Condition>('none', 'none', 'none', 'current', 'stale', 'absent')
const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant('put' as const), id, data, pair: maybePair, condition: creating }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('putPair' as const), data, pair, condition: creating }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('post' as const),
      id,
      data,
      pair: maybePair,
      condition: fc.constant<Condition>('none'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('patch' as const), id, data, pair: maybePair, condition }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constantFrom('cancel' as const, 'restore' as const, 'delete' as const),
      id,
      condition,
    }),
  },
)

/** The expected answer to a command: an error code, or the id and operation of the record. */
type Expected =
  | { code: 'NOT_FOUND' | 'CONFLICT' }
  | { id: string; done: 'created' | 'updated' | 'unchanged' | 'deleted' }

/** Applies the command to the model. `made` is the id that the server generated, if it did. */
function apply({ records, versions, trash }: Model, command: Command, made: string): Expected {
  const owner =
    'pair' in command && command.pair
      ? [...records].find(([, held]) => held.pair === command.pair)?.[0]
      : undefined
  const target =
    command.op === 'putPair' ? (owner ?? made) : command.op === 'put' ? (owner ?? command.id) : command.id
  const held = records.get(target)
  const store = (next: Omit<Held, 'version'>): Expected => {
    const version = (versions.get(target) ?? 0) + 1
    versions.set(target, version)
    records.set(target, { ...next, version })
    return { id: target, done: held ? 'updated' : 'created' }
  }
  if (command.op === 'post') {
    if (held || owner) return { code: 'CONFLICT' }
    return store({ data: command.data, pair: command.pair, cancelled: false })
  }
  if (command.op === 'put' && owner && owner !== command.id && records.has(command.id))
    return { code: 'CONFLICT' }
  const gone = trash.get(target)
  if (!held && gone && command.op === 'restore') {
    const taken = [...records.values()].some(({ pair }) => pair !== null && pair === gone.pair)
    if (taken || command.condition === 'stale') return { code: 'CONFLICT' }
    store(gone)
    return { id: target, done: 'updated' }
  }
  if (!held) {
    const creates =
      (command.op === 'put' || command.op === 'putPair') && ['none', 'absent'].includes(command.condition)
    return creates
      ? store({ data: command.data, pair: command.pair, cancelled: false })
      : { code: 'NOT_FOUND' }
  }
  if (command.condition === 'stale' || command.condition === 'absent') return { code: 'CONFLICT' }
  if (!('data' in command)) {
    if (command.op === 'delete') {
      versions.set(target, held.version + 1)
      trash.set(target, held)
      records.delete(target)
      return { id: target, done: 'deleted' }
    }
    const cancelled = command.op === 'cancel'
    return held.cancelled === cancelled ? { id: target, done: 'unchanged' } : store({ ...held, cancelled })
  }
  if (command.op === 'patch' && owner && owner !== target) return { code: 'CONFLICT' }
  const next = {
    ...held,
    data: command.op === 'patch' ? merged(held.data, command.data) : command.data,
    pair: command.pair ?? held.pair,
  }
  const same = canonical(next) === canonical(held)
  return same ? { id: target, done: 'unchanged' } : store(next)
}

/** RFC 7396 for one level of objects. */
function merged(target: object, patch: Record<string, unknown>): object {
  const result: Record<string, unknown> = { ...target }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = value
  }
  return result
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

/** The precondition as headers, relative to the version that the write would find. */
function headersOf(command: Command, model: Model): Record<string, string> {
  if (command.condition === 'none') return {}
  if (command.condition === 'absent') return { 'if-none-match': '*' }
  const owner =
    'pair' in command && command.op !== 'patch' && command.pair
      ? [...model.records].find(([, held]) => held.pair === command.pair)?.[0]
      : undefined
  const target = owner ?? ('id' in command ? command.id : '')
  const found = model.records.get(target) ?? model.trash.get(target)
  const version = found?.version ?? 1
  return { 'if-match': `"${command.condition === 'current' ? version : version + 1}"` }
}

function send(at: string, command: Command, headers: Record<string, string>): Promise<Answer> {
  const body = {
    ...('data' in command && { data: command.data }),
    ...('pair' in command && command.pair && { external_id: command.pair }),
  }
  if (command.op === 'putPair') return world.call('PUT', at, body, headers)
  if (command.op === 'post') return world.call('POST', at, { id: command.id, ...body }, headers)
  const path = `${at}/${command.id}`
  if (command.op === 'put' || command.op === 'patch')
    return world.call(command.op.toUpperCase(), path, body, headers)
  if (command.op === 'delete') return world.call('DELETE', path, undefined, headers)
  return world.call('POST', `${path}/${command.op}`, undefined, headers)
}

function expectAnswer(answer: Answer, expected: Expected, { records }: Model): void {
  if ('code' in expected) {
    expectFailure(answer, expected.code)
    return
  }
  const body = succeed(answer, expected.done === 'created' ? 201 : 200)
  if (expected.done === 'deleted') {
    expect(body).toEqual({ id: expected.id, deleted: true })
    return
  }
  const held = records.get(expected.id)
  expect(shape(body)).toEqual(held)
  expect(body.id).toBe(expected.id)
  if (body.operation) expect(body.operation).toBe(expected.done)
}

const shape = (record: Body): Held => ({
  data: record.data,
  pair: record.external_id,
  version: record.version,
  cancelled: record.status === 'cancelled',
})

test(
  'any sequence of record writes agrees with the model in answers, records and log',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 14 }), async (commands) => {
        const type = await world.newType()
        const at = `/v1/crm/records/${type}`
        const model: Model = { records: new Map(), versions: new Map(), trash: new Map() }
        for (const each of commands) {
          const answer = await send(at, each, headersOf(each, model))
          expectAnswer(answer, apply(model, each, answer.body.id), model)
        }
        const { data } = succeed(await world.call('GET', `${at}?limit=1000`))
        expect(new Map(data.map((record: Body) => [record.id, shape(record)]))).toEqual(model.records)
        const log = await world.logOf(type)
        const counted = new Map<string, number>()
        for (const row of log) {
          expect(row.version).toBe((counted.get(row.id) ?? 0) + 1)
          counted.set(row.id, row.version)
        }
        expect(counted).toEqual(model.versions)
      }),
      { numRuns: cases(100) },
    )
  },
  CASES_TIMEOUT,
)
