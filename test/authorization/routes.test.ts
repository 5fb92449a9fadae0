// @module-tag full
// @module-tag sampled
/** Every route with every kind of token: what the oracle says of the token alone, and nothing changed by what is refused. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUTES } from '../../src/rest/plugin.ts'
import { succeed } from '../support/answers.ts'
import { sampleOf } from '../support/cases.ts'
import { type Holder, holders } from '../support/oracle.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../support/route-samples.ts'
import { openWorld, type World } from '../support/world.ts'
import { CANARY, isAllowed, type Question, type Rule, wrongAnswers } from './matrix.ts'
import { ROUTE_NEEDS } from './needs-of-routes.ts'

let world: World
let all: Holder[]
const filled: FilledBase[] = []
beforeAll(async () => {
  world = await openWorld()
  for (const base of ['shop', 'mart']) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('POST', '/v1/shop/preview', { name: 'dev' }), 201)
  for (const base of ['shop', 'shop--dev']) {
    filled.push(await fillBase(world, base, base))
    succeed(await world.call('PUT', `/v1/${base}/record-types/hidden`, { description: CANARY }), 201)
    succeed(await world.call('PUT', `/v1/${base}/records/hidden/h`, { data: { CANARY } }), 201)
  }
  all = await holders(world, 'shop', 'mart')
  // The first write of a token that proposes opens its change-set, which later ones only write to.
  for (const { grants, call } of all)
    if (grants.some(({ writes }) => writes !== undefined))
      succeed(await call('PATCH', '/v1/shop/records/task/a', { data: { proposed: true } }))
})
afterAll(() => world.close())

type Row = (typeof ROUTES)[number]
type Sent = { row: Row; place: FilledBase }
type Asked = Sent & { holder: Holder }

/** The base that the path names, which differs for kinds that only previews take. */
const baseOf = ({ row, place }: Sent) =>
  row.path.startsWith('/:base_id/') ? (routeValues(row.path, place)['base_id'] ?? '') : place.base

/** Its sample request, with other values in the path. */
function request({ row, place }: Sent, values: Record<string, string> = {}, dryRun = false) {
  const named: Record<string, string> = { ...routeValues(row.path, place), ...values }
  const { query = '', body } = routeSamples(place.base)[row.id] ?? {}
  const path = row.path.replace('*', 'a.txt').replace(/:([a-z_]+)/g, (_, name: string) => named[name] ?? '')
  const search = [query, dryRun && 'dry_run=true'].filter(Boolean).join('&')
  return [row.method, `/v1${path}${search && `?${search}`}`, body] as const
}

const ruleOf = ({ row }: Sent): Rule => ROUTE_NEEDS.get(row.id) as Rule
const may = (asked: Asked): boolean => isAllowed(questionOf(asked), asked.holder)

const questionOf = (asked: Sent): Question => ({
  name: asked.row.id,
  base: baseOf(asked),
  rule: ruleOf(asked),
  ask: async (holder, isAllowed) => {
    const { status, body, text } = await holder.call(...request(asked, {}, isAllowed && asked.row.writes))
    const hasNone = body?.meta?.refused === body?.data?.length
    return { code: status >= 500 ? 'INTERNAL_ERROR' : (body?.error?.code ?? null), text, hasNone }
  },
})

const asked = (): Asked[] =>
  ROUTES.flatMap((row) => all.flatMap((holder) => filled.map((place) => ({ holder, row, place }))))

test('every route has an entry, and every entry a route', () => {
  expect([...ROUTE_NEEDS.keys()].sort()).toEqual(ROUTES.map(({ id }) => id).sort())
})

test('a token can do what its grants say, and what it is refused changes nothing', async () => {
  const questions = ROUTES.flatMap((row) => filled.map((place) => questionOf({ row, place })))
  expect(await wrongAnswers(world, questions, all, 13)).toEqual([])
})

/** The answer without the names of the request: what is refused must not depend on what there is. */
async function faceless(asked: Asked, values: Record<string, string>): Promise<string> {
  const [method, path, body] = request(asked, values)
  const { status, text } = await asked.holder.call(method, path, body, { 'x-request-id': 'same' })
  const names = [
    ...Object.values({ ...routeValues(asked.row.path, asked.place), ...values }),
    asked.place.base,
    // Of the production of a preview.
    ...['shop', 'absent'],
  ]
  const bare = names
    .filter((name) => name.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, name) => rest.replaceAll(name, '<name>'), text)
  return `${status} ${bare}`
}

test('what is refused does not show whether the base, the type or the id exists', async () => {
  const wrong: string[] = []
  const refused = asked().filter((each) => !each.holder.dead && !may(each) && !ruleOf(each).hides)
  for (const each of sampleOf(refused, 13)) {
    const isKnown = each.holder.grants.some(({ base }) => ['*', 'shop', 'shop--dev'].includes(base))
    const named = [...each.row.path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name)
    const ofBase = each.row.path.startsWith('/bases/') ? 'id' : 'base_id'
    // The form of an id says whether it is one of a preview.
    const absent = (name: string) =>
      name === 'seq' ? '999999' : name === ofBase && baseOf(each).includes('--') ? 'absent--dev' : 'absent'
    // A name of its own grants shows nothing.
    const isOwn = (name: string) => {
      const value = routeValues(each.row.path, each.place)[name]
      return name === 'provider' || each.holder.grants.some((grant) => grant.record_type === value)
    }
    const others = named.filter((name) => (isKnown ? name !== ofBase && !isOwn(name) : name === ofBase))
    if (others.length === 0) continue
    const there = await faceless(each, {})
    const gone = await faceless(each, Object.fromEntries(others.map((name) => [name, absent(name)])))
    if (there !== gone) wrong.push(`${each.holder.name}: ${each.row.id}: ${there} but ${gone}`)
  }
  expect(wrong).toEqual([])
})
