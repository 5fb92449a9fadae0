// @module-tag full
// @module-tag sampled
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import { lastSeq, linkNames, logAfter, relate } from '../../support/links.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
let at: string

const CARDINALITIES = ['many_to_many', 'one_to_many', 'many_to_one', 'one_to_one'] as const
const ON_DELETE = ['unlink', 'restrict', 'cascade'] as const
const TYPES = ON_DELETE.flatMap((on) =>
  CARDINALITIES.map((cardinality) => ({ id: `${on}.${cardinality}`, on, cardinality })),
)
const IDS = ['a', 'b', 'c', 'd', 'e']

beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  at = `/v1/crm/records/${type}`
  for (const { id, on, cardinality } of TYPES)
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${id}`, { on_delete: on, cardinality }), 201)
})
afterAll(() => world.close())

type RelType = (typeof TYPES)[number]
type Link = { relType: RelType; source: string; target: string }
type Model = { records: Set<string>; links: Link[] }
type Command =
  | { op: 'put' | 'delete' | 'cancel'; id: string }
  | ({ op: 'link' | 'unlink' | 'putLinked' } & Link)

const id = fc.constantFrom(...IDS)
const relType = fc.constantFrom(...TYPES)
const ends = { relType, source: id, target: id }
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ op: fc.constant('put' as const), id }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant('link' as const), ...ends }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('putLinked' as const), ...ends }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('unlink' as const), ...ends }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('delete' as const), id }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), id }) },
)

const sameLink = (a: Link, b: Link) =>
  a.relType.id === b.relType.id && a.source === b.source && a.target === b.target
const nameOf = ({ relType, source, target }: Link) => `${relType.id}:${source}>${target}`

type Outcome = 200 | 201 | 400 | 404 | 409

/** The outcome of creating a link; the model changes only on success. */
function applyLink({ records, links }: Model, link: Link): Outcome {
  const { relType, source, target } = link
  if (!records.has(source) || !records.has(target)) return 400
  if (links.some((each) => sameLink(each, link))) return 200
  const alike = links.filter((each) => each.relType.id === relType.id)
  const { cardinality } = relType
  const oneTarget = cardinality === 'many_to_one' || cardinality === 'one_to_one'
  const oneSource = cardinality === 'one_to_many' || cardinality === 'one_to_one'
  if (oneTarget && alike.some((each) => each.source === source)) return 409
  if (oneSource && alike.some((each) => each.target === target)) return 409
  links.push(link)
  return 201
}

/** The outcome of deleting a record. */
function applyDelete(model: Model, id: string): Outcome {
  if (!model.records.has(id)) return 404
  const going = new Set([id])
  for (const each of going)
    for (const { relType, source, target } of model.links)
      if (target === each && relType.on === 'cascade') going.add(source)
  if (
    model.links.some(
      ({ relType, source, target }) => relType.on === 'restrict' && going.has(target) && !going.has(source),
    )
  )
    return 409
  for (const each of going) model.records.delete(each)
  model.links = model.links.filter(({ source, target }) => !going.has(source) && !going.has(target))
  return 200
}

/** Applies the command to the model and returns the expected status. */
function apply(model: Model, command: Command): Outcome {
  const { records, links } = model
  switch (command.op) {
    case 'put': {
      const isNew = !records.has(command.id)
      records.add(command.id)
      return isNew ? 201 : 200
    }
    case 'cancel':
      return records.has(command.id) ? 200 : 404
    case 'delete':
      return applyDelete(model, command.id)
    case 'link':
      return applyLink(model, command)
    case 'unlink': {
      const held = links.findIndex((each) => sameLink(each, command))
      if (held >= 0) links.splice(held, 1)
      return held >= 0 ? 200 : 404
    }
    case 'putLinked': {
      const isNew = !records.has(command.source)
      records.add(command.source)
      const linked = applyLink(model, command)
      if (linked >= 400 && isNew) records.delete(command.source)
      if (linked >= 400) return linked
      return isNew ? 201 : 200
    }
  }
}

async function send(command: Command): Promise<{ status: number }> {
  if ('id' in command) {
    const one = `${at}/${command.id}`
    if (command.op === 'put') return world.call('PUT', one, { data: {} })
    return command.op === 'cancel' ? world.call('POST', `${one}/cancel`) : world.call('DELETE', one)
  }
  const { relType, source, target } = command
  if (command.op === 'link') return relate(world.call, relType.id, [type, source], [type, target])
  if (command.op === 'putLinked') {
    const relationships = [{ rel_type: relType.id, record_type: type, id: target }]
    return world.call('PUT', `${at}/${source}`, { data: {}, relationships })
  }
  const filter = {
    and: Object.entries({ rel_type: relType.id, source_id: source, target_id: target }).map(
      ([field, value]) => ({ field, op: 'eq', value }),
    ),
  }
  const found = await world.call(
    'GET',
    `/v1/crm/relationships?filter=${encodeURIComponent(JSON.stringify(filter))}`,
  )
  return world.call('DELETE', `/v1/crm/relationships/${succeed(found).data[0]?.id ?? 'absent'}`)
}

/** Deletes everything, links first, so that no restricting link prevents it. */
async function clear(): Promise<void> {
  for (const { id } of succeed(await world.call('GET', '/v1/crm/relationships?limit=1000')).data)
    succeed(await world.call('DELETE', `/v1/crm/relationships/${id}`))
  for (const { id } of succeed(await world.call('GET', at)).data)
    succeed(await world.call('DELETE', `${at}/${id}`))
}

test(
  'any sequence of writes to records and links agrees with the model in answers, records, links and log',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 30 }), async (commands) => {
        await clear()
        const since = await lastSeq(world)
        const model: Model = { records: new Set(), links: [] }
        for (const id of IDS) {
          await send({ op: 'put', id })
          apply(model, { op: 'put', id })
        }
        for (const each of commands) {
          const answer = await send(each)
          expect(answer.status, JSON.stringify(each)).toBe(apply(model, each))
        }
        const { data } = succeed(await world.call('GET', at))
        expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([...model.records].sort())
        expect(await linkNames(world)).toEqual(model.links.map(nameOf).sort())
        await expectSoundLog(since, model)
      }),
      { numRuns: cases(25) },
    )
  },
  CASES_TIMEOUT,
)

/** The log must add up to the existing records and links, and every cause must be a deletion of a record. */
async function expectSoundLog(since: string, { records, links }: Model): Promise<void> {
  const log = await logAfter(world, since)
  const alive = (kind: string) => {
    const ids = new Set<string>()
    for (const row of log.filter((each) => each.kind === kind)) {
      expect(ids.has(row.id), `${row.operation} of ${row.id}`).toBe(row.operation !== 'create')
      if (row.operation === 'delete') ids.delete(row.id)
      else ids.add(row.id)
    }
    return ids
  }
  expect(alive('record')).toEqual(records)
  expect(alive('relationship').size).toBe(links.length)
  const deletions = new Map(
    log.filter((row) => row.kind === 'record' && row.operation === 'delete').map((row) => [row.seq, row.xid]),
  )
  for (const { cause, xid } of log) if (cause !== null) expect(deletions.get(cause)).toBe(xid)
}
