// @module-tag full
/** `--external-source`: reads and writes of the command line that go to another system. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

const PEOPLE = [
  { id: 'p1', name: 'Ada' },
  { id: 'p2', name: 'Ben' },
]

let world: World
let upstream: Upstream
let settings: Settings
let type: string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  upstream.on('/people', json({ results: PEOPLE, count: 2 }))
  upstream.on('/people/p2', json(PEOPLE[1]))
  type = await world.newType({
    json_schema: { type: 'object', properties: { name: { type: 'string' } } },
    sources: [
      {
        name: 'hub',
        get: { url: `${upstream.url}/people/{{external_id}}` },
        list: { url: `${upstream.url}/people`, response_path: '$.results', total_path: '$.count' },
        update: { url: `${upstream.url}/people/{{external_id}}`, method: 'PATCH' },
        field_mapping: {
          to_plinth: { external_id: '$.id', name: '$.name' },
          to_external: { name: '$.name' },
        },
      },
    ],
  })
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

const run = (...args: string[]) => plinth(args, settings)

test('`query`, `record list` and `record get` read from the source', async () => {
  for (const command of [['query'], ['record', 'list']]) {
    const { code, out, err } = await run(...command, type, '--external-source', 'hub', '--json')
    expect([command, code], err).toEqual([command, 0])
    expect(JSON.parse(out).data.map(({ id, data }: { id: string; data: object }) => [id, data])).toEqual([
      ['p1', { name: 'Ada' }],
      ['p2', { name: 'Ben' }],
    ])
  }
  const table = await run('query', type, '--external-source', 'hub')
  expect(table).toMatchObject({ code: 0, out: expect.stringMatching(/p1[\s\S]*Ada[\s\S]*p2[\s\S]*Ben/) })
  const one = await run('record', 'get', type, 'p2', '--external-source', 'hub', '--json')
  expect(JSON.parse(one.out)).toMatchObject({ id: 'p2', external_source: 'hub', data: { name: 'Ben' } })
})

test('a filter with the source is refused with its reason, and without the source nothing is stored', async () => {
  const filter = '{"field":"data.name","op":"eq","value":"Ada"}'
  const refused = await run('query', type, '--external-source', 'hub', '--filter', filter)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('VALIDATION_ERROR') })
  const unknown = await run('query', type, '--external-source', 'nowhere')
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('nowhere') })
  expect(JSON.parse((await run('query', type, '--json')).out).data).toEqual([])
})
