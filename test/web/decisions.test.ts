// @module-tag full
/** What a person decides in the pages: promotions, and who may come in. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const low = async () =>
  succeed(
    await explorer.server.call('POST', '/v1/desk/records/ticket/query', {
      ...{ filter: { field: 'data.priority', op: 'eq', value: 'low' }, limit: 1, include_total: true },
    }),
  ).meta.total as number
const schema = async () =>
  JSON.stringify(succeed(await explorer.server.call('GET', '/v1/desk/record-types/ticket')).json_schema)

inBrowser(
  'a proposal waits for the 83 tickets that do not fit, is repaired, promoted and rolled back',
  async () => {
    const before = await schema()
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review')
    const visitor = new Visitor(page)
    await visitor.sees('83 tickets would not fit')
    await visitor.click('link', 'Change how tickets are stored')
    await visitor.sees('83 tickets of production would not fit')
    const promote = page.getByRole('button', { name: 'Promote', exact: true })
    expect([await promote.isDisabled(), await low()]).toEqual([true, 83])
    await visitor.click('button', 'Set them to “normal”')
    await visitor.sees('priority: “low” becomes “normal”.')
    await expect.poll(() => promote.isEnabled()).toBe(true)
    expect([await low(), await schema()]).toEqual([83, before])
    await page.keyboard.press('Control+Enter')
    await visitor.sees('“csat” is promoted.')
    expect(await low()).toBe(0)
    expect(await schema()).not.toBe(before)
    await visitor.sees('Nothing waits for you.')
    await visitor.click('button', 'Roll back…')
    await visitor.sees('Delete the record type')
    await visitor.click('button', 'Roll back 2 changes')
    await visitor.sees('“csat” is rolled back.')
    expect(await schema()).toBe(before)
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser('a person who may not promote sees what waits, and no button', async () => {
  const { page, faults, close } = await explorer.open('Jonas Weber', '/review/desk--csat')
  const visitor = new Visitor(page)
  await visitor.sees('You may look, but not decide.')
  await visitor.sees('Surveys')
  expect(await page.getByRole('button', { name: /^(promote|set them|send back|decline)/i }).count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})

inBrowser(
  'of what an agent proposes a part is promoted, both sides are chosen from, and it is taken back',
  async () => {
    const { server } = explorer
    const at = '/v1/desk/records/ticket'
    const grant = {
      base: 'desk',
      record_type: '*',
      environment: '*',
      permission: 'write',
      writes: 'propose',
    }
    const made = await server.call('POST', '/v1/tokens', {
      name: 'night-shift',
      kind: 'agent',
      grants: [grant],
    })
    const agent = server.as(succeed(made, 201).token)
    const of = async (id: string) => succeed(await server.call('GET', `${at}/${id}`)).data
    const [one, two] = succeed(await server.call('GET', `${at}?limit=2`)).data
    succeed(await agent('PATCH', `${at}/${one.id}`, { data: { owner: 'night' } }))
    succeed(await agent('PATCH', `${at}/${two.id}`, { data: { owner: 'night' } }))
    succeed(await agent('PUT', `${at}/proposed`, { data: { ...one.data, subject: '<b>Proposed</b>' } }), 201)
    succeed(await server.call('PATCH', `${at}/${two.id}`, { data: { owner: 'day' } }))
    const { data: previews } = succeed(await agent('GET', '/v1/desk/previews'))
    const { id: from } = previews.find(({ id }: { id: string }) => id.startsWith('desk--p-'))
    const asked = { from, title: 'Hand over to the night', note: 'It is late.' }
    succeed(await agent('POST', '/v1/desk/review-requests', asked), 201)

    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review')
    const visitor = new Visitor(page)
    await visitor.click('link', 'Hand over to the night')
    await visitor.sees('<b>Proposed</b>')
    await visitor.sees('1 choice left.')
    const promote = page.getByRole('button', { name: 'Promote', exact: true })
    expect(await promote.isDisabled()).toBe(true)
    await page.getByRole('radio', { name: /What production has/ }).check()
    await page.getByRole('checkbox', { name: 'Goes along' }).last().uncheck()
    await visitor.sees('1 change stays in the proposal.')
    expect([await of(one.id), (await of(two.id)).owner]).toEqual([one.data, 'day'])
    await visitor.click('button', 'Promote')
    await visitor.sees('is promoted.')
    expect([(await of(one.id)).owner, (await of(two.id)).owner]).toEqual(['night', 'day'])
    expect((await server.call('GET', `${at}/proposed`)).status).toBe(404)
    await visitor.click('button', 'Roll back…')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Roll back/ })
      .click()
    await visitor.sees('is rolled back.')
    expect(await of(one.id)).toEqual(one.data)
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser('a token that is made there works, is shown once, and ends when it is revoked', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/agents')
  const visitor = new Visitor(page)
  await visitor.click('button', 'New token')
  await page.getByLabel('Name').fill('night-agent')
  await page.getByLabel('Where').selectOption({ label: 'Endpoint Reply' })
  await page.getByLabel('Your own token').fill('plt_wrong')
  await visitor.click('button', 'Make the token')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Your own token').fill(explorer.desk.tokens['Mara Lindqvist'].token)
  await visitor.click('button', 'Make the token')
  const token = (await page.getByRole('group', { name: 'Token of night-agent' }).textContent()) ?? ''
  expect(succeed(await explorer.server.as(token)('GET', '/v1/tokens/self'))).toMatchObject({
    ...{ name: 'night-agent', kind: 'agent' },
    grants: [{ base: 'desk', endpoint: 'reply', permission: 'write' }],
  })
  await visitor.click('button', 'I have kept it')
  await visitor.click('link', /night-agent/)
  await visitor.click('button', 'Revoke…')
  expect(await page.content()).not.toContain(token)
  const revoke = page.getByRole('button', { name: 'Revoke night-agent' })
  await page.getByLabel(/type its name/).fill('night')
  expect(await revoke.isDisabled()).toBe(true)
  await page.getByLabel(/type its name/).fill('night-agent')
  await revoke.click()
  await visitor.sees('The token of night-agent is revoked.')
  expect((await explorer.server.as(token)('GET', '/v1/tokens/self')).status).toBe(401)
  expect(faults).toEqual([])
  await close()
})

inBrowser(
  'settings for a client name the address of an endpoint, which is shown as a model reads it',
  async () => {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/agents')
    const visitor = new Visitor(page)
    await visitor.click('link', /^Reply$/)
    await visitor.sees('12 tools, as a model reads them')
    await visitor.sees('Never sees or writes owner, channel, due.')
    await visitor.click('button', 'Connect an agent')
    await page.getByLabel('What it works with').selectOption({ label: 'Endpoint Reply' })
    const settings = await page.getByRole('group', { name: 'Settings for Claude Code' }).textContent()
    expect(JSON.parse(settings ?? '').mcpServers['plinth-desk-reply']).toEqual({
      type: 'http',
      url: `${explorer.server.url}/mcp/desk/e/reply`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
      headers: { Authorization: 'Bearer ${PLINTH_TOKEN}' },
    })
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser('what an agent did is planned to be taken back from its own page', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/agents')
  const visitor = new Visitor(page)
  await visitor.click('link', /triage-agent/)
  await visitor.click('button', /Undo what it did since/)
  await visitor.click('menuitem', 'It was made')
  const plan = page.getByRole('dialog')
  await expect.poll(() => plan.getByRole('button', { name: /^Undo \d+ changes$/ }).isVisible()).toBe(true)
  expect(faults).toEqual([])
  await close()
})
