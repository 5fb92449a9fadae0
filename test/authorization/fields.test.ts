// @module-tag full
// @module-tag sampled
/** Every field of both GraphQL schemas with every kind of token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { BASE_MUTATIONS, BASE_QUERIES } from '../support/base-samples.ts'
import { fillGraph, MUTATIONS, QUERIES } from '../support/graph-samples.ts'
import { type Holder, holders } from '../support/oracle.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'
import { CANARY, type Question, type Rule, wrongAnswers } from './matrix.ts'
import { BASE_FIELD_NEEDS, FIELD_NEEDS } from './needs-of-fields.ts'

let world: World
let upstream: Upstream
let all: Holder[]
let filled: (sample: string, dry: string) => string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  filled = await fillGraph(world, upstream)
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
