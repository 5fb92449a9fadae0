// @module-tag full
/** Values that a caller made long, of characters that a pattern could divide in many ways. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { droppedProperties } from '../../../src/engine/configuration/record-types/dropped-properties.ts'
import { times } from '../../support/answers.ts'
import { filesIn } from '../../support/files.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await filesIn(() => world).newType('docs', {})
  await filesIn(() => world).put('a.txt', 'whole')
})
afterAll(() => world.close())

const spaces = (count: number): string => ' '.repeat(count)
const ofJson = (charset: string) => ({ 'content-type': `application/json; charset=${charset}` })

test.each<[string, number, () => Promise<{ status: number }>]>([
  [
    'a Range',
    200,
    () => filesIn(() => world).get('a.txt', { range: `bytes=${spaces(3000)}-${spaces(3000)}x` }),
  ],
  ['a charset', 400, () => world.call('PUT', '/v1/bases/other', '{"id":', ofJson(`${spaces(50_000)}a b`))],
  [
    'a charset without a token',
    400,
    () => world.as(null)('POST', '/playground/sign-in', '{}', ofJson(`${spaces(50_000)}a b`)),
  ],
  [
    'the url of an external source',
    400,
    () =>
      world.call('PUT', '/v1/crm/record-types/far', {
        sources: [{ name: 'far', get: { url: `https://example.com/{{${spaces(1900)}!}}` } }],
      }),
  ],
])('%s is read in one pass', async (_what, status, send) => {
  const begun = performance.now()
  expect((await send()).status).toBe(status)
  // Each took 7 seconds to a day.
  expect(performance.now() - begun).toBeLessThan(6000)
})

test('properties that a schema drops are looked for only as far as they are named', () => {
  const schema = (letter: string) => ({
    properties: Object.fromEntries(times(8000, (n) => [`${letter}${n}`, {}])),
  })
  const begun = performance.now()
  expect(droppedProperties(schema('a'), schema('b'))).toHaveLength(20)
  // It took 10 seconds.
  expect(performance.now() - begun).toBeLessThan(6000)
})
