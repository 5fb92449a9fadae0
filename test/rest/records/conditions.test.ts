import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import type { Answer } from '../../support/server.ts'
import { openWorld, patchJson, type World } from '../../support/world.ts'

let world: World
let type: string
let at: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  at = `/v1/crm/records/${type}`
})
afterAll(() => world.close())

let serial = 0
/** Creates a record at version 3 and returns its path. */
async function third(): Promise<string> {
  const path = `${at}/r${++serial}`
  for (const n of [1, 2, 3])
    succeed(await world.call('PUT', path, { data: { n }, external_id: path }), n === 1 ? 201 : 200)
  return path
}
const versionOf = async (path: string) => succeed(await world.call('GET', path)).version

type Write = (path: string, headers: Record<string, string>) => Promise<Answer>
/** Every write that accepts a condition; each of them changes the record. */
const WRITES: [string, Write][] = [
  ['PUT by id', (path, headers) => world.call('PUT', path, { data: { n: 4 } }, headers)],
  ['PUT by pair', (path, headers) => world.call('PUT', at, { data: { n: 4 }, external_id: path }, headers)],
  ['merge patch', (path, headers) => world.call('PATCH', path, { data: { n: 4 } }, headers)],
  [
    'JSON patch',
    (path, headers) => patchJson(world.call, path, [{ op: 'add', path: '/data/n', value: 4 }], headers),
  ],
  ['cancel', (path, headers) => world.call('POST', `${path}/cancel`, undefined, headers)],
  ['DELETE', (path, headers) => world.call('DELETE', path, undefined, headers)],
]

describe.each(sampleOf(WRITES))('%s', { tags: 'sampled' }, (_name, write) => {
  test.each(['"3"', '*', '"1", "3"', ' "3" ', '"3","99"'])('succeeds with If-Match: %s', async (tag) => {
    succeed(await write(await third(), { 'if-match': tag }))
  })

  test.each<[string, unknown]>([
    ['"2"', 2],
    ['"4"', 4],
    ['"1", "2"', [1, 2]],
    ['W/"3"', 0],
    ['"03"', 0],
    ['"three"', 0],
    ['""', 0],
    ['"99999999999999999999"', 0],
  ])('is 409 with If-Match: %s and changes nothing', async (tag, received) => {
    const path = await third()
    const { details } = expectFailure(await write(path, { 'if-match': tag }), 'CONFLICT')
    expect(details).toEqual([
      {
        path: 'header/If-Match',
        code: 'version_mismatch',
        message: expect.stringContaining(received === 0 ? 'write "3", without W/' : 'Read it again'),
        expected: 3,
        received,
      },
    ])
    expect(await versionOf(path)).toBe(3)
  })

  test.each(['3', '"3', "'3'", '"3" "4"', '*, "3"', '"3",', ''])(
    'is 400 with the malformed If-Match: %s',
    async (tag) => {
      const path = await third()
      expectFault(await write(path, { 'if-match': tag }), 'header/If-Match')
      expect(await versionOf(path)).toBe(3)
    },
  )

  test('is 404 for an absent record with If-Match, and creates nothing', async () => {
    const path = `${at}/absent`
    for (const tag of ['"1"', '*', '"0"']) expectFailure(await write(path, { 'if-match': tag }), 'NOT_FOUND')
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
  })

  test('is 400 with a tag in If-None-Match', async () => {
    const path = await third()
    expectFault(await write(path, { 'if-none-match': '"3"' }), 'header/If-None-Match')
    expect(await versionOf(path)).toBe(3)
  })
})

describe('expected_version', () => {
  const bodies: [string, (path: string, version: number) => Promise<Answer>][] = [
    ['PUT', (path, expected_version) => world.call('PUT', path, { data: { n: 4 }, expected_version })],
    ['PATCH', (path, expected_version) => world.call('PATCH', path, { data: { n: 4 }, expected_version })],
    ['cancel', (path, expected_version) => world.call('POST', `${path}/cancel`, { expected_version })],
  ]
  test.each(bodies)('of a %s is a precondition like If-Match', async (_name, write) => {
    const path = await third()
    const { details } = expectFailure(await write(path, 2), 'CONFLICT')
    expect(details[0]).toMatchObject({
      path: '/expected_version',
      code: 'version_mismatch',
      expected: 3,
      received: 2,
    })
    expectFailure(await write(`${at}/absent`, 1), 'NOT_FOUND')
    succeed(await write(path, 3))
  })

  test('must agree with If-Match', async () => {
    const path = await third()
    const put = (expected_version: number, tag: string) =>
      world.call('PUT', path, { data: { n: 4 }, expected_version }, { 'if-match': tag })
    expectFault(await put(3, '"2"'), '/expected_version')
    expectFault(await put(2, '"3"'), '/expected_version')
    expect(await versionOf(path)).toBe(3)
    expectFailure(await put(2, '"2"'), 'CONFLICT')
    expect(succeed(await put(3, '"3"')).version).toBe(4)
    expect(
      succeed(await world.call('PUT', path, { data: {}, expected_version: 4 }, { 'if-match': '*' })).version,
    ).toBe(5)
  })

  test('applies to a write that would change nothing', async () => {
    const path = await third()
    const same = { data: { n: 3 }, expected_version: 2 }
    expectFailure(await world.call('PUT', path, same), 'CONFLICT')
    expect(succeed(await world.call('PUT', path, { ...same, expected_version: 3 })).operation).toBe(
      'unchanged',
    )
    succeed(await world.call('POST', `${path}/cancel`))
    expectFailure(await world.call('POST', `${path}/cancel`, { expected_version: 3 }), 'CONFLICT')
  })
})

describe('If-None-Match: *', () => {
  const once = { 'if-none-match': '*' }

  test('creates a record, and is 409 for an existing one', async () => {
    const path = `${at}/once`
    succeed(await world.call('PUT', path, { data: { n: 1 } }, once), 201)
    expectFailure(await world.call('PUT', path, { data: { n: 2 } }, once), 'CONFLICT')
    expectFailure(await world.call('PUT', path, { data: { n: 1 } }, once), 'CONFLICT')
    expect(await versionOf(path)).toBe(1)
  })

  test('is 409 for an external id in use, whatever the path id', async () => {
    const path = await third()
    const body = { data: {}, external_id: path }
    expectFailure(await world.call('PUT', `${at}/free`, body, once), 'CONFLICT')
    expectFailure(await world.call('PUT', at, body, once), 'CONFLICT')
    expectFailure(await world.call('GET', `${at}/free`), 'NOT_FOUND')
  })

  test('is 400 for writes that cannot create', async () => {
    const path = await third()
    for (const [method, target, body] of [
      ['PATCH', path, { data: { n: 4 } }],
      ['POST', `${path}/cancel`, undefined],
      ['POST', `${path}/restore`, undefined],
      ['DELETE', path, undefined],
    ] as const)
      expectFault(await world.call(method, target, body, once), 'header/If-None-Match')
    expect(await versionOf(path)).toBe(3)
  })
})

test('a POST that creates a record refuses If-Match and If-None-Match', async () => {
  for (const header of ['if-match', 'if-none-match'])
    expectFailure(await world.call('POST', at, { data: {} }, { [header]: '*' }), 'VALIDATION_ERROR')
})

test('a GET with If-None-Match is 304 for a matching tag, also weak or in a list, and 200 for another', async () => {
  const path = await third()
  for (const tag of ['"3"', 'W/"3"', '"1", "3"', '*']) {
    const answer = await world.call('GET', path, undefined, { 'if-none-match': tag })
    expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', '"3"'])
  }
  for (const tag of ['"1"', '3', '"33"'])
    succeed(await world.call('GET', path, undefined, { 'if-none-match': tag }))
})

test('of 64 concurrent writes with the same If-Match one succeeds', { tags: 'full' }, async () => {
  const path = await third()
  const answers = await Promise.all(
    times(64, (i) => world.call('PUT', path, { data: { i } }, { 'if-match': '"3"' })),
  )
  const won = answers.filter((answer) => answer.status === 200)
  expect(won).toHaveLength(1)
  for (const answer of answers) if (answer !== won[0]) expectFailure(answer, 'CONFLICT')
  const now = succeed(await world.call('GET', path))
  expect(now).toMatchObject({ version: 4, data: won[0]?.body.data })
})
