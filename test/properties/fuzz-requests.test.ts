// @module-tag full
// @module-tag sampled
/** Changed samples of every REST route are answered below 500, and errors show nothing of the server. `PLINTH_TEST_FUZZ` says how many. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUTES } from '../../src/rest/plugin.ts'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../support/route-samples.ts'
import { SEED } from '../support/seed.ts'
import { openWorld, type World } from '../support/world.ts'

const COUNT = Number(process.env['PLINTH_TEST_FUZZ'] ?? cases(3000))
const LANES = 8

let world: World
let filled: FilledBase
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/shop', {}), 201)
  filled = await fillBase(world, 'shop', 'note')
})
afterAll(() => world.close())

/** Values that programs trip over. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, '', ' ', '\u0000', '\ud800', '__proto__', 'constructor', "'; --", '%', '../..', '$1'],
    ...[
      0,
      -1,
      0.5,
      1e308,
      2 ** 53,
      2 ** 63,
      -(2 ** 31) - 1,
      [],
      {},
      [[]],
      [null],
      { __proto__: null, toString: 1 },
    ],
    ...['9'.repeat(40), 'x'.repeat(5000), '٣', '2024-02-30', '1e999', '🙂'.repeat(50), '*', 'a,b', 'data.'],
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** The value with one place of it replaced, removed or doubled. */
function changed(value: unknown, path: readonly number[], by: unknown, how: number): unknown {
  const [at = 0, ...rest] = path
  if (typeof value !== 'object' || value === null || path.length === 0) return by
  const keys = Object.keys(value)
  const key = keys[at % (keys.length + 1)] ?? 'unknown'
  if (Array.isArray(value))
    return how === 0
      ? [...value, ...value]
      : value.map((each, n) => (String(n) === key ? changed(each, rest, by, how) : each))
  const { [key]: old, ...others } = value as Record<string, unknown>
  return how === 1 ? others : { ...others, [key]: changed(old, rest, by, how) }
}

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

const LEAKS =
  /node_modules|\/src\/|\.ts:\d+|\bat \S+ \(|plinth\.\w+|SELECT .* FROM|syntax error at|SQLSTATE|ECONN/

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

async function send({ route, where, path: at, by, how, query }: Change): Promise<string | null> {
  const row = ROUTES[route % ROUTES.length] as (typeof ROUTES)[number]
  const sample = routeSamples('shop')[row.id] ?? {}
  const values = { ...routeValues(row.path, filled) }
  const names = Object.keys(values).filter((name) => row.path.includes(`:${name}`))
  if (where === 0) values[names[how % names.length] ?? ''] = textOf(by) ?? ''
  const path = row.path
    .replace('*', 'a.txt')
    .replace(/:([a-z_]+)/g, (_, name: string) => encoded(values[name] ?? ''))
  const search = new URLSearchParams(sample.query ?? '')
  if (where !== 2) for (const name of query) search.set(name, textOf(by)?.toWellFormed() ?? '')
  if (row.writes) search.set('dry_run', 'true')
  const body = sample.body === undefined || where === 0 ? sample.body : changed(sample.body, at, by, how)
  const { status, text } = await world.call(row.method, `/v1${path}?${search}`, body)
  if (status < 400) return null
  return status >= 500 || (status !== 404 && LEAKS.test(text.replaceAll(textOf(by), '')))
    ? `${status}: ${text.slice(0, 300)}`
    : null
}

test(
  'every changed sample is answered, without what only the server knows',
  async () => {
    const all = fc.sample(changes, { seed: SEED, numRuns: COUNT })
    const wrong: string[] = []
    const lane = async (first: number) => {
      for (let n = first; n < all.length; n += LANES) {
        const change = all[n] as Change
        const found = await send(change)
        const row = ROUTES[change.route % ROUTES.length]
        if (found) wrong.push(`${row?.id} ${JSON.stringify(change).slice(0, 300)} ${found}`)
      }
    }
    await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)))
    expect(wrong).toEqual([])
    succeed(await world.call('GET', '/v1/shop/records/task/a'))
  },
  CASES_TIMEOUT,
)
