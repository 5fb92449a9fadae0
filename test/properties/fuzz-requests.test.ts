// @module-tag full
// @module-tag sampled
/** Changed samples of every REST route are answered below 500, and errors show nothing of the server. `PLINTH_TEST_FUZZ` says how many. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUTES } from '../../src/rest/plugin.ts'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, sampleOf } from '../support/cases.ts'
import { changed, faultIn, fuzz, odd, replacedEach, TEXTLESS, textOf } from '../support/fuzz.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../support/route-samples.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let filled: FilledBase
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/shop', {}), 201)
  filled = await fillBase(world, 'shop', 'note')
})
afterAll(() => world.close())

type Change = { route: number; where: number; path: number[]; by: unknown; how: number; query: string[] }
const changes: fc.Arbitrary<Change> = fc.record({
  route: fc.nat(),
  where: fc.nat(3),
  path: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
  by: odd,
  how: fc.nat(4),
  query: fc.array(
    fc.constantFrom(
      'limit',
      'sort',
      'filter',
      'cursor',
      'fields',
      'include',
      'as_of',
      'version',
      'after',
      'search',
      'meta',
      'since',
    ),
    { maxLength: 2 },
  ),
})

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The path of a route with these values in it. */
const filledPath = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace('*', 'a.txt').replace(/:([a-z_]+)/g, (_, name: string) => encoded(values[name] ?? ''))

async function send({ route, where, path: at, by, how, query }: Change): Promise<string | null> {
  const row = ROUTES[route % ROUTES.length] as (typeof ROUTES)[number]
  const sample = routeSamples('shop')[row.id] ?? {}
  const values = { ...routeValues(row.path, filled) }
  const names = Object.keys(values).filter((name) => row.path.includes(`:${name}`))
  if (where === 0) values[names[how % names.length] ?? ''] = textOf(by)
  const path = filledPath(row.path, values)
  const search = new URLSearchParams(sample.query ?? '')
  if (where !== 2) for (const name of query) search.set(name, textOf(by).toWellFormed())
  if (row.writes) search.set('dry_run', 'true')
  const body = sample.body === undefined || where === 0 ? sample.body : changed(sample.body, at, by, how)
  const { status, text } = await world.call(row.method, `/v1${path}?${search}`, body)
  const found = status === 404 ? null : faultIn(status, text, by)
  return found && `${row.id} ${found}`
}

test(
  'every changed sample is answered, without what only the server knows',
  async () => {
    expect(await fuzz(changes, 3000, send)).toEqual([])
    succeed(await world.call('GET', '/v1/shop/records/task/a'))
  },
  CASES_TIMEOUT,
)

test(
  'an object that has no text is refused at each place of a body, or kept as a value',
  async () => {
    const wrong: string[] = []
    for (const row of sampleOf(ROUTES)) {
      const sample = routeSamples('shop')[row.id]
      const path = filledPath(row.path, routeValues(row.path, filled))
      const search = `${sample?.query ?? ''}${row.writes ? '&dry_run=true' : ''}`
      for (const body of sample?.body === undefined ? [] : replacedEach(sample.body, TEXTLESS)) {
        const { status, text } = await world.call(row.method, `/v1${path}?${search}`, body as object)
        if (status >= 500) wrong.push(`${row.id} ${JSON.stringify(body)} ${text}`)
      }
    }
    expect(wrong).toEqual([])
  },
  CASES_TIMEOUT,
)
