// @module-tag full
/** What a person decides in the pages: promotions, and who may come in. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { barriersOf, type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

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

/** An agent that proposes: it hands 11 tickets over and makes one, while two of them move in production. */
async function handOver(name: string) {
  const { server } = explorer
  const at = '/v1/desk/records/ticket'
  const grant = { base: 'desk', record_type: '*', environment: '*', permission: 'write', writes: 'propose' }
  const made = await server.call('POST', '/v1/tokens', { name, kind: 'agent', grants: [grant] })
  const agent = server.as(succeed(made, 201).token)
  const of = async (id: string) => succeed(await server.call('GET', `${at}/${id}`)).data
  const { data: tickets } = succeed(await server.call('GET', `${at}?limit=11`))
  for (const { id } of tickets) succeed(await agent('PATCH', `${at}/${id}`, { data: { owner: name } }))
  succeed(
    await agent('PUT', `${at}/${name}`, { data: { ...tickets[0].data, subject: '<b>Proposed</b>' } }),
    201,
  )
  const { data: previews } = succeed(await agent('GET', '/v1/desk/previews'))
  const { id: from } = previews.find(({ change_set: set }: Preview) => set?.created_by_name === name)
  const ask = async () =>
    succeed(await agent('POST', '/v1/desk/review-requests', { from, title: `Hand over to ${name}` }), 201)
  await ask()
  const revision = async () => succeed(await server.call('GET', `/v1/bases/${from}`)).change_set.revision
  return { at, agent, of, tickets: tickets as Ticket[], from: from as string, ask, revision }
}
type Preview = { change_set: { created_by_name: string } | null }
type Ticket = { id: string; data: { owner?: string; subject: string } }

inBrowser(
  'a reviewer sends back, lets eleven of twelve pass, chooses of both sides, and takes the merge back',
  async () => {
    const { server } = explorer
    const { at, agent, of, tickets, from, ask, revision } = await handOver('night')
    const [one, two, three] = tickets as [Ticket, Ticket, Ticket]
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review')
    const visitor = new Visitor(page)
    await visitor.click('link', 'Hand over to night')
    await visitor.sees('<b>Proposed</b>')
    expect(await page.getByText(from.replace('desk--', '')).count(), 'the name that the server made').toBe(0)
    // The switch of bases names it by what it is about.
    await page.getByRole('button', { name: /Support desk/ }).click()
    await visitor.sees('Hand over to night', page.getByRole('menu'))
    expect(await page.getByRole('menu').textContent()).not.toContain(from.replace('desk--', ''))
    await page.keyboard.press('Escape')
    // A word on a field of one record, by keyboard alone, and one on the whole, which sends it back.
    const card = page.getByRole('article', { name: three.data.subject })
    await card.getByRole('button', { name: 'Say something' }).press('Enter')
    await card.getByRole('combobox').selectOption('data.owner')
    await card.getByLabel('A word to who proposed it').fill('Is she there?')
    await card.getByRole('button', { name: 'Comment' }).press('Enter')
    await card.getByText('Is she there?').waitFor()
    const sendBack = page.getByRole('button', { name: 'Send back with the note' })
    expect(await sendBack.isDisabled()).toBe(true)
    await page.getByLabel('A word to the agent (optional)').fill('<i>Not</i> that one')
    await sendBack.click()
    await visitor.sees('It was sent back.')
    await page.goto(`${server.url}/b/desk/agents`)
    await visitor.sees('desk, write as proposals')
    await page.goto(`${server.url}/b/desk/review?state=back`)
    await visitor.sees('sent back')
    const said = succeed(await agent('GET', `/v1/${from}/reviews`)).data
    expect(said).toMatchObject([
      { verdict: 'request_changes', text: '<i>Not</i> that one', resources: null },
      { verdict: 'comment', resources: [{ id: three.id, fields: ['data.owner'] }] },
    ])
    // The agent goes on, and production moves.
    succeed(await agent('PATCH', `${at}/${three.id}`, { data: { owner: 'dusk' } }))
    await ask()
    for (const { id } of [one, two])
      succeed(await server.call('PATCH', `${at}/${id}`, { data: { owner: 'day' } }))
    await page.goto(`${server.url}/b/desk/review`)
    await visitor.click('link', 'Hand over to night')
    await visitor.sees('2 choices left.')
    await card.getByText('changed since').waitFor()
    expect(await page.getByText('changed since').count()).toBe(1)
    expect(await barriersOf(page, ['best-practice'])).toEqual([])
    const promote = page.getByRole('button', { name: 'Promote', exact: true })
    expect(await promote.isDisabled()).toBe(true)
    await page
      .getByRole('radio', { name: /What production has/ })
      .first()
      .check()
    await page
      .getByRole('radio', { name: /What is proposed/ })
      .last()
      .check()
    await page.getByRole('article', { name: '<b>Proposed</b>' }).getByRole('checkbox').uncheck()
    await visitor.sees('1 change stays in the proposal.')
    expect(await of(three.id)).toEqual(three.data)
    await visitor.click('button', 'Promote')
    await visitor.sees('is promoted.')
    const owners = await Promise.all(tickets.map(async ({ id }) => (await of(id)).owner))
    expect(owners.toSorted()).toEqual(['day', 'dusk', ...Array(9).fill('night')])
    expect((await server.call('GET', `${at}/night`)).status).toBe(404)
    expect(await revision()).toBeGreaterThan(0)
    await visitor.click('button', 'Roll back…')
    const merged = await of(three.id)
    expect(merged).not.toEqual(three.data)
    const dialog = page.getByRole('dialog')
    const act = dialog.getByRole('button', { name: /^Roll back/ })
    // All but one goes back, then that one, which the dialog shows alone.
    await dialog.getByRole('checkbox', { name: three.id }).uncheck()
    await act.click()
    await visitor.sees('is rolled back.')
    expect(await of(three.id)).toEqual(merged)
    await visitor.click('button', 'Roll back…')
    await expect.poll(() => dialog.getByRole('checkbox').count()).toBe(1)
    await act.click()
    await expect.poll(() => of(three.id)).toEqual(three.data)
    // The feed names who proposed it beside who let it pass.
    await page.goto(`${server.url}/b/desk`)
    await visitor.sees('proposed by night')
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser(
  'nobody lets pass what came after: what a reviewer saw counts, and approvals are of that',
  async () => {
    const { server } = explorer
    const { agent, of, tickets, from, ask } = await handOver('dawn')
    const { change_sets: before = null } = succeed(await server.call('GET', '/v1/bases/desk')).settings
    succeed(await server.call('PUT', '/v1/bases/desk', { settings: { change_sets: { approvals: 2 } } }))
    const looker = await server.call('POST', '/v1/tokens', {
      ...{ name: 'looker', kind: 'person' },
      grants: [{ base: 'desk', record_type: '*', environment: '*', permission: 'read' }],
    })
    const address = `/b/desk/review/${from}`
    const { page, faults, close } = await explorer.open('Mara Lindqvist', `/review/${from}`)
    const visitor = new Visitor(page)
    await visitor.sees('0 of 2 approvals')
    expect(await page.getByRole('button', { name: 'Promote', exact: true }).isDisabled()).toBe(true)
    const [one] = tickets as [Ticket]
    // What waits is not written by what the agent does next, but by its address.
    const within = `/v1/${from}/records/ticket/${one.id}`
    succeed(await agent('PATCH', within, { data: { owner: 'sneaked in' } }))
    await visitor.click('button', 'Approve')
    await visitor.sees('It was written again since this page showed it. Nothing was decided.')
    expect(succeed(await server.call('GET', `/v1/${from}/reviews`)).data).toEqual([])
    await visitor.click('button', 'Show it as it is now')
    await visitor.sees('sneaked in')
    await visitor.sees('changed since')
    await visitor.click('button', 'Approve')
    await visitor.sees('1 of 2 approvals')
    await visitor.sees('Approved by Mara Lindqvist')
    const other = await explorer.openWith(succeed(looker, 201).token, address)
    await new Visitor(other.page).sees('1 of 2 approvals')
    await new Visitor(other.page).sees('You may look, but not decide.')
    const buttons = /^(promote|approve|send back|comment|decline|say something)/i
    expect(await other.page.getByRole('button', { name: buttons }).count()).toBe(0)
    expect(await other.page.getByRole('checkbox').count()).toBe(0)
    await other.close()
    await page.getByLabel('A word to the agent (optional)').fill('No.')
    await visitor.click('button', 'Decline')
    await visitor.sees('It was declined.')
    await page.goto(`${server.url}/b/desk/review?state=ended`)
    await visitor.sees('declined it')
    await page.goto(`${server.url}${address}`)
    await visitor.sees('It was declined. Its changes are kept for a while.')
    expect(await page.getByRole('button', { name: buttons }).count()).toBe(0)
    await visitor.click('button', 'Open it again')
    await visitor.sees('being written')
    await ask()
    expect((await of(one.id)).owner).toBe(one.data.owner)
    succeed(
      await server.call('PUT', '/v1/bases/desk', { settings: { change_sets: before ?? { approvals: 0 } } }),
    )
    expect([...faults, ...other.faults]).toEqual([])
    await close()
  },
)

inBrowser('what production refuses by now is left out or let pass, and the rest passes', async () => {
  const { server } = explorer
  const ends = { source_record_types: ['article'], target_record_types: ['article'] }
  succeed(await server.call('PUT', '/v1/desk/relationship-types/read_next', ends), 201)
  const article = (base: string, id: string) => `/v1/${base}/records/article/${id}`
  for (const id of ['kept', 'gone', 'alone', 'old'])
    succeed(await server.call('PUT', article('desk', id), { data: { title: `The ${id} one` } }), 201)
  const title = 'Read one after another'
  const opened = await server.call('POST', '/v1/desk/preview', { copy: 'on_write', name: 'reading', title })
  const { id: from } = succeed(opened, 201)
  const link = { rel_type: 'read_next', source_record_type: 'article', target_record_type: 'article' }
  const made = { ...link, source_id: 'kept', target_id: 'gone' }
  succeed(await server.call('POST', `/v1/${from}/relationships`, made), 201)
  succeed(await server.call('PATCH', article(from, 'kept'), { data: { title: 'The first one' } }))
  for (const id of ['alone', 'old']) succeed(await server.call('DELETE', article(from, id)))
  succeed(await server.call('DELETE', article('desk', 'gone')))
  for (const source_id of ['alone', 'old']) {
    const late = { ...link, source_id, target_id: 'kept' }
    succeed(await server.call('POST', '/v1/desk/relationships', late), 201)
  }
  const { page, faults, close } = await explorer.open('Mara Lindqvist', `/review/${from}`)
  const visitor = new Visitor(page)
  const promote = page.getByRole('button', { name: 'Promote', exact: true })
  await visitor.sees('read_next: The kept one → The gone one')
  await visitor.sees('Production no longer has a record that it links.')
  await visitor.sees('The alone one: Links that production has by now would be deleted with it.')
  expect(await promote.isDisabled()).toBe(true)
  await page
    .getByText('The old one: ')
    .locator('../..')
    .getByRole('button', { name: 'Delete those too' })
    .click()
  const leave = page.getByRole('button', { name: 'Leave it out' })
  await expect.poll(() => leave.count()).toBe(2)
  for (const left of [1, 0]) {
    await leave.first().click()
    await expect.poll(() => leave.count()).toBe(left)
  }
  await visitor.sees('2 changes stay in the proposal.')
  await expect.poll(() => promote.isEnabled()).toBe(true)
  await promote.click()
  await visitor.sees('is promoted.')
  const stored = async (id: string) => succeed(await server.call('GET', article('desk', id))).data.title
  expect([await stored('kept'), await stored('alone')]).toEqual(['The first one', 'The alone one'])
  expect((await server.call('GET', article('desk', 'old'))).status).toBe(404)
  expect(succeed(await server.call('GET', `/v1/bases/${from}`)).change_set.counts).toMatchObject({
    delete: 1,
  })
  expect(faults).toEqual([])
  await close()
})

inBrowser('a token that is made there works, is shown once, and ends when it is revoked', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/agents')
  const visitor = new Visitor(page)
  await visitor.click('button', 'New token')
  const room = await page.getByLabel('Name').boundingBox()
  expect(room?.width, 'a field has room beside its label').toBeGreaterThan(300)
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

inBrowser('what is proposed for a record is on its page, one click from its decision', async () => {
  const { of, tickets, from } = await handOver('evening')
  const { id } = tickets.toSorted((one, other) => (one.id < other.id ? -1 : 1)).at(-1) as Ticket
  const { owner } = await of(id)
  const { page, faults, close } = await explorer.open('Mara Lindqvist', `/t/ticket/${id}`)
  const visitor = new Visitor(page)
  const waiting = page.getByRole('region', { name: 'Waiting for approval' })
  await visitor.sees('Hand over to evening', waiting)
  await visitor.sees('evening', waiting.locator('.changes'))
  expect((await of(id)).owner, 'it is only proposed').toBe(owner)
  expect(owner).not.toBe('evening')
  await visitor.click('link', 'Review', waiting)
  await visitor.sees('Promote')
  expect(new URL(page.url()).pathname).toContain(from)
  const first = page.getByRole('article').first().getByRole('link')
  expect(await first.getAttribute('href'), 'of all that is proposed, this record comes first').toContain(id)
  expect(faults).toEqual([])
  await close()
})

inBrowser(
  'what a change-set makes of the links of a record is on its page, in the words of Review',
  async () => {
    const { server } = explorer
    const ends = { source_record_types: ['article'], target_record_types: ['article'] }
    succeed(await server.call('PUT', '/v1/desk/relationship-types/see_also', ends), 201)
    const names = ['here', 'near', 'far', 'other']
    for (const id of names)
      succeed(
        await server.call('PUT', `/v1/desk/records/article/${id}`, { data: { title: `The ${id} one` } }),
        201,
      )
    const link = (source_id: string, target_id: string) => ({
      ...{ rel_type: 'see_also', source_record_type: 'article', target_record_type: 'article' },
      ...{ source_id, target_id },
    })
    const kept = succeed(await server.call('POST', '/v1/desk/relationships', link('here', 'near')), 201)
    const opened = { copy: 'on_write', name: 'linking', title: 'Link otherwise' }
    const { id: from } = succeed(await server.call('POST', '/v1/desk/preview', opened), 201)
    succeed(await server.call('DELETE', `/v1/${from}/relationships/${kept.id}`))
    for (const [one, other] of [
      ['far', 'here'],
      ['far', 'other'],
    ] as const)
      succeed(await server.call('POST', `/v1/${from}/relationships`, link(one, other)), 201)
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/t/article/here')
    const visitor = new Visitor(page)
    const waiting = page.getByRole('region', { name: 'Waiting for approval' })
    await visitor.sees('Link otherwise', waiting)
    await visitor.sees('see_also: The here one → The near one', waiting)
    await visitor.sees('see_also: The far one → The here one', waiting)
    expect(await waiting.locator('.chip').allTextContents()).toEqual(['being written', 'deleted', 'new'])
    expect(await waiting.getByText('The other one').count(), 'a link of other records').toBe(0)
    // All of a large one is read only when somebody asks for its links.
    const operations = Array.from({ length: 200 }, (_, at) => ({
      ...{
        type: 'upsert_record',
        record_type: 'article',
        id: `many-${at}`,
        data: { title: `Article ${at}` },
      },
    }))
    succeed(await server.call('POST', `/v1/${from}/batch`, { operations }))
    await page.reload()
    await visitor.sees('203 changes in all.', waiting)
    expect(await waiting.getByText('see_also').count()).toBe(0)
    await visitor.click('button', 'Look for links of this record', waiting)
    await visitor.sees('see_also: The here one → The near one', waiting)
    await visitor.sees('see_also: The far one → The here one', waiting)
    expect(await waiting.getByText('The other one').count(), 'a link of other records').toBe(0)
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser(
  'what is proposed for a record is approved and sent back on its page, as of what it shows',
  async () => {
    const { server } = explorer
    const { at, agent, of, tickets, from } = await handOver('noon')
    const [one, two] = tickets as [Ticket, Ticket]
    const said = async () => succeed(await server.call('GET', `/v1/${from}/reviews`)).data
    const { page, faults, close } = await explorer.open('Mara Lindqvist', `/t/ticket/${one.id}`)
    const visitor = new Visitor(page)
    const tile = page.getByRole('listitem').filter({ hasText: 'Hand over to noon' })
    await visitor.click('button', 'Decide…', tile)
    // The agent writes the record again, and nothing is decided of what the page does not show.
    succeed(await agent('PATCH', `/v1/${from}/records/ticket/${one.id}`, { data: { owner: 'sneaked in' } }))
    await visitor.click('button', 'Approve', tile)
    await visitor.sees('It was written again since this page showed it. Nothing was decided.', tile)
    expect(await said()).toEqual([])
    await visitor.click('button', 'Show it as it is now', tile)
    await visitor.sees('sneaked in', tile)
    await visitor.click('button', 'Approve', tile)
    await visitor.sees('approved', tile)
    expect(await said()).toMatchObject([
      { verdict: 'approve', is_stale: false, resources: [{ record_type: 'ticket', id: one.id }] },
    ])
    expect((await of(one.id)).owner, 'approved is not promoted').toBe(one.data.owner)
    await page.goto(`${server.url}/b/desk/t/ticket/${two.id}`)
    await visitor.sees('Hand over to noon', tile)
    expect(await tile.getByText('approved').count(), 'of another record').toBe(0)
    await visitor.click('button', 'Decide…', tile)
    const sendBack = tile.getByRole('button', { name: 'Send back' })
    expect(await sendBack.isDisabled()).toBe(true)
    await tile.getByRole('combobox').selectOption({ label: 'owner' })
    await tile.getByLabel('A word to who proposed it').fill('Ask her first')
    await sendBack.click()
    await visitor.sees('sent back', tile)
    const [last] = await said()
    expect(last).toMatchObject({
      ...{ verdict: 'request_changes', text: 'Ask her first' },
      resources: [{ record_type: 'ticket', id: two.id, fields: ['data.owner'] }],
    })
    expect(await barriersOf(page, ['best-practice'])).toEqual([])
    await close()
    // Who may only read sees it, and decides nothing.
    const looker = await server.call('POST', '/v1/tokens', {
      ...{ name: 'onlooker', kind: 'person' },
      grants: [{ base: 'desk', record_type: '*', environment: '*', permission: 'read' }],
    })
    const other = await explorer.openWith(succeed(looker, 201).token, `/b/desk/t/ticket/${one.id}`)
    const theirs = other.page.getByRole('listitem').filter({ hasText: 'Hand over to noon' })
    await new Visitor(other.page).sees('sneaked in', theirs)
    expect(await theirs.getByRole('button').count()).toBe(0)
    expect([...faults, ...other.faults]).toEqual([])
    await other.close()
    expect((await server.call('GET', `${at}/noon`)).status).toBe(404)
  },
)

inBrowser('a linked record that waits is decided on the page of the record, and that is undone', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/t/ticket/T-1004')
  const visitor = new Visitor(page)
  const states = async () =>
    succeed(await explorer.server.call('GET', '/v1/desk/records/refund_request?sort=id'))
      .data.map(({ data }: { data: { state: string } }) => data.state)
      .sort()
  expect(await states()).toEqual(['proposed', 'proposed'])
  await visitor.click('button', 'Decide…')
  await visitor.click('menuitem', 'approved')
  await expect.poll(states).toEqual(['approved', 'proposed'])
  await visitor.click('button', 'Undo', page.getByRole('status'))
  await visitor.click('button', 'Undo 1 change', page.getByRole('dialog'))
  await expect.poll(states).toEqual(['proposed', 'proposed'])
  expect(faults).toEqual([])
  await close()
  const jonas = await explorer.open('Jonas Weber', '/t/ticket/T-1004')
  await new Visitor(jonas.page).sees('Waiting for approval')
  const mayWrite = succeed(await explorer.as('Jonas Weber')('GET', '/v1/tokens/self')).grants.some(
    ({ permission }: { permission: string }) => permission !== 'read',
  )
  expect((await jonas.page.getByRole('button', { name: 'Decide…' }).count()) > 0).toBe(mayWrite)
  await jonas.close()
})

inBrowser('of a proposal, one record is taken back on its page, and the rest stays', async () => {
  const { server } = explorer
  const { of, tickets, from } = await handOver('dusk')
  const [one, two] = tickets as [Ticket, Ticket]
  const before = one.data.owner
  succeed(await explorer.as('Mara Lindqvist')('POST', '/v1/desk/promote', { from }))
  expect([(await of(one.id)).owner, (await of(two.id)).owner]).toEqual(['dusk', 'dusk'])
  const { page, faults, close } = await explorer.open('Mara Lindqvist', `/t/ticket/${one.id}`)
  const visitor = new Visitor(page)
  await visitor.click('button', 'Roll back…', page.getByRole('complementary', { name: 'History' }))
  await visitor.sees(`ticket/${one.id}`, page.getByRole('dialog'))
  await visitor.click('button', 'Roll back 1 change', page.getByRole('dialog'))
  await expect.poll(async () => (await of(one.id)).owner).toEqual(before)
  expect((await of(two.id)).owner).toBe('dusk')
  const { data } = succeed(await server.call('GET', '/v1/desk/promotions?limit=2'))
  const [back] = data.flatMap(({ changes }: { changes: Back[] }) =>
    changes.filter((each) => each.rolled_back),
  )
  expect(back).toMatchObject({ id: `ticket/${one.id}` })
  expect(faults).toEqual([])
  await close()
})
type Back = { id: string; rolled_back?: true }

inBrowser('of a proposal of record types, one passes and the other stays', async () => {
  const { server } = explorer
  const before = await schema()
  succeed(await server.call('PATCH', '/v1/desk/records/ticket/T-1002', { data: { priority: 'low' } }))
  expect((await server.call('GET', '/v1/desk/record-types/survey')).status).toBe(404)
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review/desk--csat')
  const visitor = new Visitor(page)
  await visitor.sees(/tickets? of production would not fit/)
  const promote = page.getByRole('button', { name: 'Promote', exact: true })
  expect(await promote.isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'Goes along' }).first().uncheck()
  await visitor.sees('1 change stays in the proposal.')
  await expect.poll(() => promote.isEnabled()).toBe(true)
  expect(await page.getByText(/would not fit/).count()).toBe(0)
  await promote.click()
  await visitor.sees('“csat” is promoted.')
  succeed(await server.call('GET', '/v1/desk/record-types/survey'))
  expect(await schema()).toBe(before)
  expect(faults).toEqual([])
  await close()
})

inBrowser('a migration that was asked for is shown, and goes along where another change stays', async () => {
  const { server } = explorer
  const field = (json: object) => ({ json_schema: { type: 'object', properties: { state: json } } })
  succeed(await server.call('PUT', '/v1/desk/record-types/parcel', field({ type: 'string' })), 201)
  succeed(await server.call('PUT', '/v1/desk/records/parcel/p1', { data: { state: 'lost' } }), 201)
  const { id: from } = succeed(await server.call('POST', '/v1/desk/preview', { name: 'parcels' }), 201)
  succeed(await server.call('PUT', `/v1/${from}/record-types/parcel`, field({ enum: ['sent', 'found'] })))
  succeed(await server.call('PUT', `/v1/${from}/record-types/box`, {}), 201)
  const steps = [{ op: 'replace', field: 'data.state', from: 'lost', value: 'found' }]
  const asked = { from, migration: { parcel: steps }, title: 'States of parcels' }
  succeed(await server.call('POST', '/v1/desk/review-requests', asked), 201)
  const { page, faults, close } = await explorer.open('Mara Lindqvist', `/review/${from}`)
  const visitor = new Visitor(page)
  await visitor.sees('state: “lost” becomes “found”.')
  await page.getByRole('checkbox', { name: 'Goes along' }).last().uncheck()
  await visitor.sees('1 change stays in the proposal.')
  const promote = page.getByRole('button', { name: 'Promote', exact: true })
  await expect.poll(() => promote.isEnabled()).toBe(true)
  expect(await page.getByText(/would not fit/).count()).toBe(0)
  await promote.click()
  await visitor.sees('“parcels” is promoted.')
  const { data } = succeed(await server.call('GET', '/v1/desk/records/parcel/p1'))
  expect(data).toEqual({ state: 'found' })
  expect((await server.call('GET', '/v1/desk/record-types/box')).status).toBe(404)
  expect(faults).toEqual([])
  await close()
})

inBrowser(
  'all records of a long proposal have their names, those without a title by their texts',
  async () => {
    const { server } = explorer
    const properties = { words: { type: 'string' }, seen: { type: 'boolean' } }
    succeed(await server.call('PUT', '/v1/desk/record-types/remark', { json_schema: { properties } }), 201)
    const many = Array.from({ length: 120 }, (_, n) => `r${String(n).padStart(3, '0')}`)
    const write = async (base: string, data: (id: string) => object) => {
      const operations = many.map((id) => ({
        type: 'upsert_record',
        record_type: 'remark',
        id,
        data: data(id),
      }))
      succeed(await server.call('POST', `/v1/${base}/batch`, { operations }))
    }
    await write('desk', (id) => ({ words: `Said as ${id}` }))
    const opened = { copy: 'on_write', name: 'seen', title: 'All is seen' }
    const { id: from } = succeed(await server.call('POST', '/v1/desk/preview', opened), 201)
    await write(from, (id) => ({ words: `Said as ${id}`, seen: true }))
    const { page, faults, close } = await explorer.open('Mara Lindqvist', `/review/${from}`)
    const visitor = new Visitor(page)
    const cards = page.getByRole('article', { name: /^Said as r/ })
    for (const shown of [50, 100]) {
      await expect.poll(() => cards.count()).toBe(shown)
      await visitor.click('button', /^Show \d+ more changes$/)
    }
    await expect.poll(() => cards.count()).toBe(120)
    expect(await page.getByRole('article').count()).toBe(120)
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser('a deletion that was asked for goes along where another change stays', async () => {
  const { server } = explorer
  const ends = { source_record_types: ['article'], target_record_types: ['article'] }
  succeed(await server.call('PUT', '/v1/desk/relationship-types/replaces', ends), 201)
  const { id: from } = succeed(await server.call('POST', '/v1/desk/preview', { name: 'fewer' }), 201)
  succeed(await server.call('DELETE', `/v1/${from}/relationship-types/replaces`))
  for (const id of ['one', 'two'])
    succeed(await server.call('PUT', `/v1/${from}/record-types/${id}`, {}), 201)
  const asked = { from, prune: true, title: 'Fewer relationships' }
  succeed(await server.call('POST', '/v1/desk/review-requests', asked), 201)
  const { page, faults, close } = await explorer.open('Mara Lindqvist', `/review/${from}`)
  const visitor = new Visitor(page)
  await page.getByRole('checkbox', { name: 'Goes along' }).last().uncheck()
  await visitor.sees('1 change stays in the proposal.')
  const promote = page.getByRole('button', { name: 'Promote', exact: true })
  await expect.poll(() => promote.isEnabled()).toBe(true)
  expect(await page.getByText('production keeps them').count()).toBe(0)
  await promote.click()
  await visitor.sees('“fewer” is promoted.')
  const status = async (path: string) => (await server.call('GET', `/v1/desk/${path}`)).status
  expect(await status('relationship-types/replaces')).toBe(404)
  expect([await status('record-types/one'), await status('record-types/two')].sort()).toEqual([200, 404])
  expect(faults).toEqual([])
  await close()
})
