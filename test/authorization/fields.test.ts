// @module-tag full
// @module-tag sampled
/** Every field of the GraphQL schemas, of a base and of an endpoint too, with every kind of token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import {
  BASE_MUTATIONS,
  BASE_QUERIES,
  BASE_SUBSCRIPTIONS,
  DESK,
  DESK_MUTATIONS,
  DESK_SUBSCRIPTIONS,
} from '../support/base-samples.ts'
import { firstEvent } from '../support/first-event.ts'
import { fillGraph, MUTATIONS, QUERIES, SUBSCRIPTIONS } from '../support/graph-samples.ts'
import { type Holder, holders } from '../support/oracle.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'
import { CANARY, type Question, type Rule, wrongAnswers } from './matrix.ts'
import { BASE_FIELD_NEEDS, DESK_FIELD_NEEDS, FIELD_NEEDS, STREAM_NEEDS } from './needs-of-fields.ts'

let world: World
let upstream: Upstream
let all: Holder[]
let filled: (sample: string, dry: string) => string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  filled = await fillGraph(world, upstream)
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', DESK))
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/hidden', { description: CANARY }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/hidden/h', { data: { CANARY } }), 201)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'dev' }), 201)
  all = await holders(world, 'crm', 'other')
  // The first write of a token that proposes opens its change-set, which later ones only write to.
  for (const { grants, call } of all)
    if (grants.some(({ writes }) => writes !== undefined))
      succeed(await call('PATCH', '/v1/crm/records/task/a', { data: { title: 'proposed' } }))
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

function questionOf(path: string, name: string, sample: string, isWrite: boolean, rule: Rule): Question {
  const base = /\b(?:base|id): "(crm[^"]*)"/.exec(sample)?.[1] ?? 'crm'
  return {
    ...{ name, base, rule },
    ask: async ({ call }, isAllowed) => {
      const query = `${isWrite ? 'mutation' : ''} { ${filled(sample, isAllowed ? ', dryRun: true' : '')} }`
      const { status, body, text } = await call('POST', path, { query })
      const code = body.error?.code ?? body.errors?.[0].extensions?.code ?? null
      const outcomes: unknown = body.data?.[name]?.data
      const hasNone = Array.isArray(outcomes) && outcomes.every((each) => each.code)
      return { code: status >= 500 && code === null ? 'INTERNAL_ERROR' : code, text, hasNone }
    },
  }
}

const questionsOf = (
  path: string,
  needs: ReadonlyMap<string, Rule>,
  queries: Readonly<Record<string, string>>,
  mutations: Readonly<Record<string, string>>,
) =>
  [...needs].map(([name, rule]) => {
    const query = queries[name]
    return questionOf(path, name, query ?? mutations[name] ?? '', query === undefined, rule)
  })

// [path, needs, queries, mutations]
const SCHEMAS = [
  ['/graphql', FIELD_NEEDS, QUERIES, MUTATIONS],
  ['/graphql/crm', BASE_FIELD_NEEDS, BASE_QUERIES, BASE_MUTATIONS],
  ['/graphql/crm/e/desk', DESK_FIELD_NEEDS, BASE_QUERIES, DESK_MUTATIONS],
] as const

test.each(SCHEMAS)(
  'every sample of %s has a need, and every need a sample',
  (_, needs, queries, mutations) => {
    expect([...needs.keys()].sort()).toEqual([...Object.keys(queries), ...Object.keys(mutations)].sort())
  },
)

test.each(SCHEMAS)(
  'at %s a token can do what its grants say, and what it is refused changes nothing',
  async (path, needs, queries, mutations) => {
    const questions = questionsOf(path, needs, queries, mutations)
    expect(await wrongAnswers(world, questions, all, 13)).toEqual([])
  },
)

// [path, samples of its subscriptions]
const STREAMS = [
  ['/graphql', SUBSCRIPTIONS],
  ['/graphql/crm', BASE_SUBSCRIPTIONS],
  ['/graphql/crm/e/desk', DESK_SUBSCRIPTIONS],
] as const

/** A stream that opens and says nothing yet is allowed to be quiet that long. What is refused is waited for. */
const QUIET_MS = 100
const REFUSAL_MS = 10_000

test.each(STREAMS)('every subscription of %s has a sample and a need', async (path, samples) => {
  const query = '{ __schema { subscriptionType { fields { name } } } }'
  const { data } = succeed(await world.call('POST', path, { query }))
  const names: string[] = data.__schema.subscriptionType.fields.map(({ name }: { name: string }) => name)
  expect(Object.keys(samples).sort()).toEqual(
    names.filter((name) => path === '/graphql' || name.startsWith('task')).sort(),
  )
  expect([...(STREAM_NEEDS[path]?.keys() ?? [])].sort()).toEqual(Object.keys(samples).sort())
})

test('a token can follow what its grants say, and no other is told anything', async () => {
  const questions = STREAMS.flatMap(([path, samples]) =>
    Object.entries(samples).map(
      ([name, sample]): Question => ({
        ...{
          name: `subscription ${name} at ${path}`,
          base: 'crm',
          rule: STREAM_NEEDS[path]?.get(name) as Rule,
        },
        ask: async ({ token }, isAllowed) => {
          const body = { query: `subscription { ${sample} }` }
          const quietMs = isAllowed ? QUIET_MS : REFUSAL_MS
          const { text } = await firstEvent(world, path, { token, body, quietMs })
          const [, code = null] = /"code":"([A-Z_]+)"/.exec(text.replace(/"data":\{.*/s, '')) ?? []
          return { code, text }
        },
      }),
    ),
  )
  expect(await wrongAnswers(world, questions, all, 1)).toEqual([])
})
