/** What a token proposes needs no name: without `from`, a proposal or a request for it is of what the token wrote. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plinth } from '../../cli/plinth.ts'
import { expectDetail, succeed } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

const wrote = { create: 1, update: 0, delete: 0 }

test('over REST, GraphQL and the command line', { tags: 'full' }, async () => {
  const { token, call } = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const graph = async (query: string) => (await call('POST', '/graphql', { query })).body
  const run = (...args: string[]) =>
    plinth(['--base', 'crm', ...args, '--json'], { PLINTH_URL: world.url, PLINTH_TOKEN: token })

  const none = await call('POST', '/v1/crm/promote/proposal', {})
  expectDetail(none, 400, { path: '/from', code: 'required' })
  expect(none.body.error.details[0].message).toContain('its first write does')
  const path = '/v1/crm/records/deal/d1'
  const { change_set: from } = succeed(await call('PUT', path, { data: { n: 1 } }), 201)

  expect(succeed(await call('POST', '/v1/crm/promote/proposal', {}))).toMatchObject({ from, summary: wrote })
  const shown = await graph('{ proposal(base: "crm") { from summary } }')
  expect(shown.data.proposal).toEqual({ from, summary: wrote })
  const proposed = await run('propose')
  expect({ code: proposed.code, from: JSON.parse(proposed.out).from }).toEqual({ code: 2, from })

  const asked = await graph('mutation { askForReview(base: "crm", title: "One") { from } }')
  expect(asked.data.askForReview).toEqual({ from })
  // What waits is asked for again, until the next write opens another one.
  const again = succeed(await call('POST', '/v1/crm/review-requests', { title: 'Two' }), 201)
  expect(again).toMatchObject({ from, title: 'Two' })
  const newest = await graph('{ newestReviewRequest(base: "crm") { from title } }')
  expect(newest.data.newestReviewRequest).toEqual({ from, title: 'Two' })
  const { change_set: next } = succeed(await call('PUT', path, { data: { n: 2 } }), 201)
  expect(next).not.toBe(from)
  const { out } = await run('review-request', 'ask', '--title', 'Three')
  expect(JSON.parse(out)).toMatchObject({ from: next, title: 'Three' })
})

test('the command line submits a change-set, reviews it and takes changes out of it', {
  tags: 'full',
}, async () => {
  const { token, call } = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const put = async (id: string) =>
    succeed(await call('PUT', `/v1/crm/records/deal/${id}`, { data: { n: 1 } }), 201)
  const { change_set: from } = await put('e1')
  await put('e2')
  const asAgent = { PLINTH_URL: world.url, PLINTH_TOKEN: token }
  const asPerson = { ...asAgent, PLINTH_TOKEN: world.adminToken }
  const taken = await plinth(['--base', from, 'discard', '--resource', 'record/deal/e2', '--json'], asAgent)
  expect(JSON.parse(taken.out).changes).toMatchObject([{ kind: 'record', id: 'deal/e2' }])
  expect((await plinth(['--base', from, 'submit', '--title', 'One deal'], asAgent)).code).toBe(0)
  const own = await plinth(['review', from, 'approve', '--revision', '3', '-m', 'Fine.'], asAgent)
  expect({ code: own.code, err: own.err }).toEqual({ code: 1, err: expect.stringContaining('FORBIDDEN') })
  const said = await plinth(['review', from, 'approve', '--revision', '3', '-m', 'Fine.', '--json'], asPerson)
  expect(JSON.parse(said.out)).toMatchObject({ verdict: 'approve', text: 'Fine.' })
  expect((await plinth(['review', from, 'comment', '-m', 'One.', '-m', 'Two.'], asPerson)).err).toContain(
    '--text is given more than once',
  )
})

test('another token names the preview', async () => {
  for (const path of ['/v1/crm/promote/proposal', '/v1/crm/review-requests']) {
    const answer = await world.call('POST', path, {})
    expectDetail(answer, 400, { path: '/from', code: 'required' })
    expect(answer.body.error.details[0].message).toContain('GET /v1/{base_id}/previews')
  }
  expectDetail(await world.call('POST', '/v1/crm--x/promote/proposal', {}), 400, { code: 'is_preview' })
})

test('nobody promotes without a name', async () => {
  expectDetail(await world.call('POST', '/v1/crm/promote', {}), 400, { path: '/from', code: 'required' })
})
