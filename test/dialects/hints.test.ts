import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType()}`
  const regions = { france: 'Europe', spain: 'Europe', japan: 'Asia' }
  for (const [id, region] of Object.entries(regions))
    succeed(
      await world.call('PUT', `${at}/${id}`, { data: { region, area: region === 'Asia' ? 5 : 50 } }),
      201,
    )
})
afterAll(() => world.close())

/** The ids of the records that a hint matches when it is sent unchanged. */
async function chosenBy(query: string): Promise<string[]> {
  const { data } = succeed(await world.call('GET', `${at}?sort=id&${query}`))
  return data.map((record: Body) => record.id)
}
async function hintFor(
  query: string,
): Promise<{ path: string; code: string; hint?: string; allowed?: string[] }> {
  const { status, body } = await world.call('GET', `${at}?${query}`)
  expect(status).toBe(400)
  expect(body.error.code).toBe('VALIDATION_ERROR')
  return body.error.details[0]
}

test.each([
  ['data.region', 'data.region=Europe'],
  ['filter[region]', 'filter[region]=Europe'],
  ['data.area>', 'data.area>=50'],
  ['where', `where=${encodeURIComponent('{"region":"Europe"}')}`],
])('the unknown parameter %s is refused with an equivalent filter as hint', async (name, query) => {
  const detail = await hintFor(query)
  expect(detail).toMatchObject({ path: `query/${name}`, code: 'unknown_key' })
  expect(detail.allowed).toContain('filter')
  const [key, json = ''] = (detail.hint ?? '').split(/=(.*)/s)
  expect(key).toBe('filter')
  expect(await chosenBy(`filter=${encodeURIComponent(json)}`)).toEqual(['france', 'spain'])
})

test('an "order" parameter is refused with an equivalent sort as hint', async () => {
  expect((await hintFor('order=area.asc,id.desc')).hint).toBe('sort=data.area,-id')
  expect(await chosenBy('limit=1')).toEqual(['france'])
  const { data } = succeed(await world.call('GET', `${at}?sort=data.area,-id`))
  expect(data.map((record: Body) => record.id)).toEqual(['japan', 'spain', 'france'])
})

test.each(['{"data.region":"Europe"}', '{"field":"data.region","op":"equals","value":"Europe"}'])(
  'the filter %s in another syntax is refused with an equivalent filter as hint',
  async (filter) => {
    const { hint = '' } = await hintFor(`filter=${encodeURIComponent(filter)}`)
    expect(await chosenBy(`filter=${encodeURIComponent(hint)}`)).toEqual(['france', 'spain'])
  },
)

test.each([
  ['filter', "{data.region}='Europe'"],
  ['where', '(region,eq,Europe)'],
  ['data.region', 'eq.Europe'],
])(
  '%s=%s in a text form of another product is refused with the form of a filter as hint',
  async (name, text) => {
    const { hint = '' } = await hintFor(`${name}=${encodeURIComponent(text)}`)
    const { field, op } = JSON.parse(hint.replace(/^filter=/, ''))
    expect({ field, op }).toEqual({ field: 'data.property', op: 'eq' })
  },
)

test('a misspelt parameter is refused with the most similar parameter as hint', async () => {
  expect(await hintFor('limitt=1')).toMatchObject({ path: 'query/limitt', hint: 'limit' })
  expect(await hintFor('fitler=1')).toMatchObject({ path: 'query/fitler', hint: 'filter' })
})

test('a route without a filter parameter has no filter as hint', async () => {
  const { status, body } = await world.call('GET', `${at}/france?data.region=Europe`)
  expect(status).toBe(400)
  expect(body.error.details[0].hint ?? '').not.toContain('=')
})
