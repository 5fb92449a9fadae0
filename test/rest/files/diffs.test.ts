/** Differences of two versions of a file, and what they may cost. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { succeed } from '../../support/answers.ts'
import { filesIn } from '../../support/files.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { get, put, at } = filesIn(() => world)

/** The diff of two versions of a new file. */
async function diffOf(path: string, before: string, after: string): Promise<string> {
  succeed(await put(path, before), 201)
  succeed(await put(path, after))
  return succeed(await get(`${path}?diff&from=1&to=2`)).diff
}
/** Lines of few values, so that two texts have some in common everywhere. */
function noise(seed: number, lines: number): string {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return `${(state >> 16) % 10}\n`
  }
  return Array.from({ length: lines }, next).join('') + seed
}

test('the equal beginning and end of two long texts cost no lines, and the diff has the right places', {
  tags: 'full',
}, async () => {
  const lines = Array.from({ length: 100_000 }, (_, n) => `${n}\n`)
  const diff = await diffOf('long.txt', lines.join(''), lines.with(60_000, 'new\n').join(''))
  const around = ['59996', '59997', '59998', '59999'].map((line) => ` ${line}\n`).join('')
  expect(diff).toContain(`@@ -59997,9 +59997,9 @@\n${around}-60000\n+new\n 60001\n`)
})

test.each([
  ['the first line', 'a\nb\nc\n', 'x\nb\nc\n', '@@ -1,3 +1,3 @@\n-a\n+x\n b\n c\n'],
  ['an empty first line', '\na\n', 'b\n', '@@ -1,2 +1,1 @@\n-\n-a\n+b\n'],
  [
    'a last line without its end',
    'a\nb',
    'a\nc',
    '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n',
  ],
  ['a line more among equal ones', 'a\na\n', 'a\na\na\n', '@@ -1,2 +1,3 @@\n a\n a\n+a\n'],
  ['all of a text', '', 'a\n', '@@ -0,0 +1,1 @@\n+a\n'],
])('a change of %s is shown', async (what, before, after, hunks) => {
  expect(await diffOf(`${what}.txt`, before, after)).toContain(hunks)
})

test('many changed lines are refused, and ones that a thread has time for are compared', {
  tags: 'full',
}, async () => {
  const count = LIMITS.diffLines / 2 + 1
  await expect(diffOf('most.txt', noise(1, count), noise(7, count))).rejects.toThrow('too_complex')
  const diff = await diffOf('some.txt', noise(1, 1000), noise(7, 1000))
  succeed(await put('other.txt', noise(1, 1000)), 201)
  succeed(await world.call('PATCH', at('other.txt'), { patch: diff }))
  expect((await get('other.txt')).text).toBe(noise(7, 1000))
})

test('of many costly diffs of a token, on all surfaces, few run; others are 429, and the server answers', {
  tags: 'full',
}, async () => {
  const lines = LIMITS.diffLines / 2 - 1
  succeed(await put('costly.txt', noise(1, lines)), 201)
  succeed(await put('costly.txt', noise(7, lines)))
  const { call } = await world.newToken([{ record_type: '*', permission: 'read' }])
  const asGraphql = '{ fileDiff(base: "crm", fileType: "docs", path: "costly.txt", from: 1, to: 2) { diff } }'
  const costly = [
    ...Array.from({ length: 10 }, () => call('GET', `${at('costly.txt')}?diff&from=1&to=2`)),
    ...Array.from({ length: 10 }, () => call('POST', '/graphql', { query: asGraphql })),
  ]
  const other = callTool(world, '/mcp/crm', 'get_file', {
    file_type: 'docs',
    path: 'costly.txt',
    compare: '1-2',
  })
  let worst = 0
  for (let n = 0; n < 50; n++) {
    const start = performance.now()
    expect((await fetch(`${world.url}/healthz`)).status).toBe(200)
    worst = Math.max(worst, performance.now() - start)
  }
  expect(worst).toBeLessThan(1000)
  const codes = (await Promise.all(costly)).map(({ body }) => {
    const { code, details } = body.errors?.[0].extensions ?? body.error
    return `${code} ${details[0].code}`
  })
  expect(new Set(codes)).toEqual(new Set(['VALIDATION_ERROR too_complex', 'RATE_LIMITED busy']))
  // Another token does not wait for this one's queue.
  expect((await other).error.details[0].code).toBe('too_complex')
})
