// @module-tag full
// @module-tag sampled
/** Changed samples of every field of the GraphQL schemas, of a base and of an endpoint too, are answered without a fault of the server. */
import fc from 'fast-check'
import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  Kind,
  type ObjectFieldNode,
  parse,
  print,
  visit,
} from 'graphql'
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
import { CASES_TIMEOUT } from '../support/cases.ts'
import { firstEvent } from '../support/first-event.ts'
import { faultIn, fuzz, odd, textOf } from '../support/fuzz.ts'
import { fillGraph, MUTATIONS, QUERIES, SUBSCRIPTIONS } from '../support/graph-samples.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

type Sample = { path: string; name: string; text: string; streams?: true }
let world: World
let upstream: Upstream
let samples: Sample[]
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const filled = await fillGraph(world, upstream)
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', DESK))
  const done = 'mutation { createTask(id: "done", data: {title: "done"}) { operation } }'
  succeed(await world.call('POST', '/graphql/crm/e/desk', { query: done }))
  type Texts = Readonly<Record<string, string>>
  const at = (path: string, queries: Texts, mutations: Texts, subscriptions: Texts): Sample[] => [
    ...Object.entries(queries).map(([name, text]) => ({ path, name, text: `{ ${filled(text, '')} }` })),
    ...Object.entries(mutations).map(([name, text]) => {
      return { path, name, text: `mutation { ${filled(text, ', dryRun: true')} }` }
    }),
    ...Object.entries(subscriptions).map(([name, text]) => {
      return { path, name, text: `subscription { ${text} }`, streams: true as const }
    }),
  ]
  // The samples that wait take a second each.
  const { waitForChange: _, waitForRecords: __, ...queries } = QUERIES
  samples = [
    ...at('/graphql', queries, MUTATIONS, SUBSCRIPTIONS),
    ...at('/graphql/crm', BASE_QUERIES, BASE_MUTATIONS, BASE_SUBSCRIPTIONS),
    ...at('/graphql/crm/e/desk', BASE_QUERIES, DESK_MUTATIONS, DESK_SUBSCRIPTIONS),
  ]
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

const IS_NAME = /^[A-Za-z_]\w*$/
/** A value as GraphQL writes it. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([name]) => IS_NAME.test(name))
  return `{${fields.map(([name, each]) => `${name}: ${literalOf(each)}`).join(', ')}}`
}

type Change = { sample: number; at: number; by: unknown; how: number }
const changes: fc.Arbitrary<Change> = fc.record({
  sample: fc.nat(),
  at: fc.nat(30),
  by: odd,
  how: fc.nat(5),
})

/** The document with one of its values, arguments or names changed. A document that writes does so in a dry run. */
function changedDocument(document: DocumentNode, { at, by, how }: Change): string {
  const isDry = (node: ASTNode) =>
    (node.kind === 'Argument' || node.kind === 'ObjectField') && node.name.value === 'dryRun'
  let n = 0
  const counted = () => n++ === at
  // Printed as it is, so the text need not be a value.
  const value = { kind: Kind.ENUM, value: literalOf(by) } as const
  const argument = (node: ArgumentNode | ObjectFieldNode) => {
    if (isDry(node)) return false
    if (!counted()) return undefined
    if (how === 1) return null
    return how === 2 ? { ...node, name: { ...node.name, value: 'unknown' } } : { ...node, value }
  }
  const inner = () => (counted() ? value : undefined)
  const done = visit(document, {
    Argument: argument,
    ObjectField: argument,
    StringValue: inner,
    IntValue: inner,
    ListValue: inner,
    EnumValue: inner,
    Field: (node) =>
      how === 3 && counted() ? { ...node, name: { ...node.name, value: '__typename' } } : undefined,
  })
  return print(done)
}

/** Streams are waited for so long, and then as good as their first bytes. */
const QUIET_MS = 50
/** Sends the document. A stream is read up to its first event. */
async function ask({ path, streams }: Sample, query: string) {
  const answer = streams
    ? await firstEvent(world, path, { token: world.adminToken, body: { query }, quietMs: QUIET_MS })
    : await world.call('POST', path, { query })
  const errors = /"errors":\[(.*)/s.exec(answer.text)?.[1]
  return {
    ...answer,
    hasErrors: errors !== undefined,
    isInternal: /INTERNAL|Unexpected error/.test(errors ?? ''),
  }
}

test('every sample succeeds as it is', async () => {
  const wrong: string[] = []
  for (const sample of samples) {
    const { text, hasErrors } = await ask(sample, sample.text)
    if (hasErrors && sample.name !== 'rotateAdminToken') wrong.push(`${sample.name} ${text}`)
  }
  expect(wrong).toEqual([])
})

test(
  'every changed document is answered, without what only the server knows',
  async () => {
    const send = async (change: Change) => {
      const asked = samples[change.sample % samples.length] as Sample
      const { name, text: sample } = asked
      // Some are broken as text, past what the parser takes.
      const query =
        change.how === 5
          ? sample.slice(0, change.at * 3) + textOf(change.by) + sample.slice(change.at * 3 + 1)
          : changedDocument(parse(sample), change)
      const { status, text, hasErrors, isInternal } = await ask(asked, query)
      const found = faultIn(isInternal ? 500 : hasErrors ? 400 : status, text, change.by)
      return found && `${name} ${query.slice(0, 200)} ${found}`
    }
    expect(await fuzz(changes, 1000, send)).toEqual([])
  },
  CASES_TIMEOUT,
)
