/** Views in the chat (MCP Apps): what hosts are told, and that a model decides nothing, also where its host lies. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openSession } from '../support/mcp-session.ts'
import type { Body } from '../support/server.ts'
import { openPublic, type World } from '../support/world.ts'
import { CAPABILITIES, errorIn, UI, viewing } from './fixture/viewing.ts'

const PATH = '/mcp/crm'

let world: World
let { ask, call, pageKey } = {} as ReturnType<typeof viewing>
beforeAll(async () => {
  world = await openPublic()
  ;({ ask, call, pageKey } = viewing(world, PATH))
  for (const type of ['deal', 'note'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/about', {
      source_record_types: ['note'],
      target_record_types: ['deal'],
    }),
    201,
  )
})
afterAll(() => world.close())

let serial = 0
/** A deal that cannot be deleted without a plan. */
async function linked(): Promise<string> {
  const id = `d${++serial}`
  succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: {} }), 201)
  const relationships = [{ rel_type: 'about', record_type: 'deal', id }]
  succeed(await world.call('PUT', `/v1/crm/records/note/n${serial}`, { data: {}, relationships }), 201)
  return id
}
const isThere = async (id: string) => (await world.call('GET', `/v1/crm/records/deal/${id}`)).status === 200

describe('what hosts are told', () => {
  test('tools name their views to a client that shows views, and cost no token otherwise', async () => {
    const [seen, plain] = [
      (await ask('tools/list')).result.tools,
      (await ask('tools/list', {}, { capabilities: {} })).result.tools,
    ]
    expect(JSON.stringify(plain)).not.toMatch(/_meta|ui:\/\/|"decide"/)
    const without = seen.filter(({ name }: Body) => name !== 'decide')
    expect(without.map(({ _meta: _, ...tool }: Body) => tool)).toEqual(plain)
    const viewOf = (name: string) => seen.find((tool: Body) => tool.name === name)?._meta?.ui.resourceUri
    expect(viewOf('undo')).toBe('ui://plinth/decide')
    expect(viewOf('query_records')).toBe('ui://plinth/records')
    expect(viewOf('changes')).toBe('ui://plinth/changes')
    expect(viewOf('define')).toBeUndefined()
    const decide = seen.find(({ name }: Body) => name === 'decide')
    expect(decide._meta.ui.visibility).toEqual(['app'])
    expect(decide.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  })

  test('the older era has them by initialize, and other media types are no views', {
    tags: 'full',
  }, async () => {
    const list = async (capabilities: object) => {
      const session = await openSession(world, { path: PATH, capabilities })
      return JSON.stringify((await session.request('tools/list')).body.result)
    }
    expect(await list(CAPABILITIES)).toContain('ui://plinth/decide')
    expect(await list({ extensions: { [UI]: { mimeTypes: ['text/other'] } } })).not.toContain('ui://')
    expect(await list({})).not.toContain('ui://')
  })

  test('each view is one page of at most 60 kB that asks for nothing', async () => {
    for (const view of ['decide', 'records', 'changes']) {
      const uri = `ui://plinth/${view}`
      const [page] = (await ask('resources/read', { uri })).result.contents
      expect([view, page.mimeType]).toEqual([view, 'text/html;profile=mcp-app'])
      expect(page._meta.ui).not.toHaveProperty('csp')
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(60_000)
      expect(page.text).not.toMatch(/<(?:link|img|script)[^>]+(?:src|href)=/)
      const other = await ask('resources/read', { uri }, { capabilities: {} })
      expect([view, other.error.code]).toEqual([view, -32602])
    }
  })

  test('an address that only reads decides nothing, and its views change nothing', async () => {
    const path = '/mcp/crm?readonly=1'
    const { tools } = (await ask('tools/list', {}, { path })).result
    expect(tools.map(({ name }: Body) => name)).not.toContain('decide')
    const sent = { decision: 'a', page: 'b', choice: 'accept' }
    expect((await ask('tools/call', { name: 'decide', arguments: sent }, { path })).error.code).toBe(-32602)
    const placeAt = async (at: string) =>
      (await call('query_records', { record_type: 'deal' }, { path: at }))._meta['plinth/view']
    expect((await placeAt(path)).tools).toEqual({ query_records: 'query_records' })
    expect(Object.keys((await placeAt(PATH)).tools)).toEqual(['query_records', 'update_record', 'undo'])
    expect(await placeAt(`${PATH}?tools=query_records,undo`)).not.toHaveProperty('tools.update_record')
  })
})

describe('a plan', () => {
  test('reaches the model without its token, and is confirmed by the view', { tags: 'full' }, async () => {
    const id = await linked()
    const planned = await call('delete_record', { record_type: 'deal', id })
    expect(planned.structuredContent.plan.what).toMatch(/^Deletes/)
    expect(JSON.stringify([planned.structuredContent, planned.content])).not.toContain('plan_token')
    const decision = planned._meta['plinth/decision']
    const done = await call('decide', { decision, page: await pageKey(), choice: 'accept' })
    expect([done.isError, await isThere(id)]).toEqual([undefined, false])
    const { data } = (await world.call('GET', `/v1/crm/changes?record_type=deal&id=${id}&order=desc&limit=1`))
      .body
    expect(data).toMatchObject([{ operation: 'delete', call: { tool: 'decide' } }])
  })

  test('is declined without effect, and is not confirmed twice', { tags: 'full' }, async () => {
    const id = await linked()
    const { _meta } = await call('delete_record', { record_type: 'deal', id })
    const sent = { decision: _meta['plinth/decision'], page: await pageKey() }
    expect((await call('decide', { ...sent, choice: 'decline' })).structuredContent).toEqual({
      choice: 'decline',
    })
    expect(await isThere(id)).toBe(true)
    await call('decide', { ...sent, choice: 'accept' })
    expect(await isThere(id)).toBe(false)
    expect((await call('decide', { ...sent, choice: 'accept' })).isError).toBe(true)
  })

  test('at /mcp keeps its base', { tags: 'full' }, async () => {
    const id = await linked()
    const { _meta } = await call(
      'delete_record',
      { base_id: 'crm', record_type: 'deal', id },
      { path: '/mcp' },
    )
    const page = await pageKey({ path: '/mcp' })
    await call('decide', { decision: _meta['plinth/decision'], page, choice: 'accept' }, { path: '/mcp' })
    expect(await isThere(id)).toBe(false)
  })

  test('without views is asked or answered with its token, as before', async () => {
    const id = await linked()
    const { structuredContent, _meta } = await call(
      'delete_record',
      { record_type: 'deal', id },
      { capabilities: {} },
    )
    expect(typeof structuredContent.plan_token).toBe('string')
    expect(_meta?.['plinth/decision']).toBeUndefined()
    const asking = { capabilities: { ...CAPABILITIES, elicitation: {} } }
    expect((await call('delete_record', { record_type: 'deal', id }, asking))._meta).toHaveProperty([
      'plinth/decision',
    ])
  })
})

describe('a host that lies', () => {
  test.each<[lie: string, of: (secrets: { decision: string; page: string }) => object]>([
    ['lists decide to the model', () => ({ decision: 'accept', page: '' })],
    ['shows the model _meta', ({ decision }) => ({ decision, page: '' })],
    ['shows the model _meta, which it sends twice', ({ decision }) => ({ decision, page: decision })],
    ['shows the model the page', ({ page }) => ({ decision: '', page })],
    ['shows the model the page, which it sends twice', ({ page }) => ({ decision: page, page })],
  ])('and %s gives it no decision', async (_lie, sent) => {
    const id = await linked()
    const { _meta } = await call('delete_record', { record_type: 'deal', id })
    const secrets = { decision: _meta['plinth/decision'], page: await pageKey() }
    const refused = await call('decide', { ...sent(secrets), choice: 'accept' })
    expect(errorIn(refused)).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'not_of_view' }] })
    expect(await isThere(id)).toBe(true)
  })

  test('has no use of secrets of another token or address, nor of a client without views', {
    tags: 'full',
  }, async () => {
    const id = await linked()
    const { _meta } = await call('delete_record', { record_type: 'deal', id })
    const other = await world.newToken([{ permission: 'admin' }])
    const sent = { decision: _meta['plinth/decision'], choice: 'accept' }
    for (const send of [{ token: other.token }, { path: '/mcp' }]) {
      const refused = await call('decide', { ...sent, page: await pageKey(send) }, send)
      expect(errorIn(refused).code).toBe('FORBIDDEN')
    }
    const blind = await ask(
      'tools/call',
      { name: 'decide', arguments: { ...sent, page: await pageKey() } },
      { capabilities: {} },
    )
    expect(blind.error.code).toBe(-32602)
    expect(await isThere(id)).toBe(true)
  })
})

describe('a proposal', () => {
  async function proposed() {
    const id = await linked()
    const grant = { permission: 'write', writes: 'propose' }
    const agent = await world.newToken([grant], { kind: 'agent' })
    const written = await agent.call('PATCH', `/v1/crm/records/deal/${id}`, { data: { stage: 'won' } })
    const from = succeed(written).change_set
    const own = { token: agent.token, path: '/mcp/crm?tools=propose' }
    const asked = await call('propose', { from, submit: true, comment: 'Signed.' }, own)
    return { id, from, asked, own }
  }
  const stageOf = async (id: string) =>
    (await world.call('GET', `/v1/crm/records/deal/${id}`)).body.data.stage

  test('is not decided by the token that asked: its view shows where a person does', {
    tags: 'full',
  }, async () => {
    const { asked, own, id } = await proposed()
    const { changes, url, decision } = asked._meta['plinth/view']
    expect(changes.changes).toMatchObject([{ id: `deal/${id}`, op: 'update', diff: [{ value: 'won' }] }])
    expect([url, decision]).toEqual([`${world.url}/b/crm/review`, undefined])
    const plain = await call('propose', { from: asked.structuredContent.from }, { ...own, capabilities: {} })
    expect(plain.structuredContent.review_url).toBe(`${world.url}/b/crm/review`)
    expect(plain._meta?.['plinth/view']).toBeUndefined()
  })

  test('is accepted, sent back or declined by a person who may, in the view', { tags: 'full' }, async () => {
    const path = '/mcp/crm?tools=propose'
    for (const [choice, stage] of [
      ['accept', 'won'],
      ['send_back', undefined],
      ['decline', undefined],
    ] as const) {
      const { id, from } = await proposed()
      const seen = await call('propose', { from }, { path })
      const { decision, request } = seen._meta['plinth/view']
      expect(request).toMatchObject({ note: 'Signed.' })
      const page = await pageKey({ path })
      const done = await call('decide', { decision, page, choice, note: 'See above.' }, { path })
      expect([choice, done.isError, await stageOf(id)]).toEqual([choice, undefined, stage])
    }
  })
})
