/** The GraphQL playground: its page, its files, and what its scripts send. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { buildASTSchema, parse } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetcherOf } from '../../packages/playground/src/fetcher.ts'
import type { Send } from '../../packages/playground/src/send.ts'
import { starters } from '../../packages/playground/src/starters.ts'
import { succeed } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { eventually } from '../support/until.ts'
import { openWorld, type World } from '../support/world.ts'

const FILES = 'src/graphql/endpoint/playground-files'
const { sources, files, script, style } = JSON.parse(readFileSync(`${FILES}/manifest.json`, 'utf8')) as {
  sources: string
  files: string[]
  script: string
  style: string
}

let world: World
beforeAll(async () => {
  world = await openWorld()
  const type = {
    json_schema: {
      type: 'object',
      properties: { title: { type: 'string' }, stage: { enum: ['new', 'open'] }, tags: { type: 'array' } },
    },
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket', type), 201)
  for (const [id, stage] of [
    ['t1', 'open'],
    ['t2', 'open'],
    ['t3', 'new'],
  ])
    succeed(
      await world.call('PUT', `/v1/crm/records/ticket/${id}`, { data: { title: `T ${id}`, stage } }),
      201,
    )
})
afterAll(() => world.close())

const sendAs =
  (token: string): Send =>
  (path, init = {}) =>
    fetch(world.url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
const page = (path: string) => world.as(null)('GET', path, undefined, { accept: 'text/html' })

test('the built files are those of the sources, and have at most two megabytes', () => {
  const hash = createHash('sha256')
  const names = readdirSync('packages/playground/src').sort()
  for (const name of ['build.ts', 'package-lock.json', ...names.map((each) => `src/${each}`)])
    hash.update(name).update(readFileSync(`packages/playground/${name}`))
  expect(sources, 'The sources of the playground differ. Run: npm run playground').toBe(hash.digest('hex'))
  expect(readdirSync(FILES).sort()).toEqual([...files.map((file) => `${file}.br`), 'manifest.json'].sort())
  const bytes = files.reduce((sum, file) => sum + statSync(`${FILES}/${file}.br`).size, 0)
  expect(bytes).toBeLessThan(2_000_000)
})

test('the page has no inline script, and its policy admits scripts of this server only', async () => {
  for (const path of ['/graphql', '/graphql/crm', '/graphql/crm/e/desk']) {
    const { status, headers, text } = await page(path)
    expect([path, status]).toEqual([path, 200])
    expect(text).toContain(`<script type="module" src="${script}"></script>`)
    expect(text).toContain(`href="${style}"`)
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(text).not.toMatch(/https?:/)
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).not.toContain('unsafe-eval')
  }
})

test('each file is served to be kept, and no other file is', { tags: 'full' }, async () => {
  for (const file of files) {
    const { status, headers } = await page(`/playground/${file}`)
    expect([file, status]).toEqual([file, 200])
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-type')).toMatch(/^(text\/(javascript|css); charset=utf-8|font\/ttf)$/)
  }
  for (const name of ['manifest.json', `${files[0]}.br`, '..%2Fyoga.ts', 'absent.js'])
    expect([name, (await page(`/playground/${name}`)).status]).toEqual([name, 404])
})

test('the first tabs of a base are queries that run and find records', { tags: 'full' }, async () => {
  const tabs = await starters('/graphql/crm', 'crm', sendAs(world.adminToken))
  expect(tabs).toHaveLength(3)
  const answers = await Promise.all(tabs.map((query) => world.call('POST', '/graphql/crm', { query })))
  const [newest, filtered, one] = answers.map((answer) => succeed(answer).data)
  expect(newest.ticketRecords.totalCount).toBe(3)
  expect(newest.ticketRecords.nodes[0]).toMatchObject({ title: expect.any(String), stage: 'new' })
  expect(filtered.ticketRecords.totalCount).toBe(2)
  expect(one.ticket).toMatchObject({ id: 't3', _version: 1 })
})

test('the first tabs find the one type of many that has records, and what an endpoint shows', {
  tags: 'full',
}, async () => {
  const many = Array.from({ length: 15 }, (_, n) => `a${String(n).padStart(2, '0')}`)
  succeed(await world.call('PUT', '/v1/bases/many', {}), 201)
  for (const id of [...many, 'ticket'])
    succeed(
      await world.call('PUT', `/v1/many/record-types/${id}`, {
        json_schema: { type: 'object', properties: { title: { type: 'string' } } },
      }),
      201,
    )
  succeed(await world.call('PUT', '/v1/many/records/ticket/t1', { data: { title: 'One' } }), 201)
  succeed(
    await world.call('PUT', '/v1/many/endpoints/desk', {
      tools: [{ record_type: 'ticket', operations: ['list'] }],
    }),
    201,
  )
  const { token } = await world.newToken([{ base: 'many', endpoint: 'desk', permission: 'read' }])
  for (const [address, by, count] of [
    ['/graphql/many', world.adminToken, 2],
    ['/graphql/many/e/desk', world.adminToken, 1],
    ['/graphql/many/e/desk', token, 1],
  ] as const) {
    const tabs = await starters(address, 'many', sendAs(by))
    expect([address, tabs.length]).toEqual([address, count])
    for (const query of tabs) succeed(await world.call('POST', address, { query }))
    const [query] = tabs
    expect(succeed(await world.call('POST', address, { query })).data.ticketRecords.nodes[0]).toMatchObject({
      title: 'One',
    })
  }
})

test('the first tabs are of the type whose record was created last', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/bases/used', {}), 201)
  for (const id of ['alpha', 'beta', 'gamma']) {
    succeed(await world.call('PUT', `/v1/used/record-types/${id}`, {}), 201)
    if (id !== 'gamma') succeed(await world.call('PUT', `/v1/used/records/${id}/r`, { data: {} }), 201)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect((await starters('/graphql/used', 'used', sendAs(world.adminToken)))[0]).toContain(
    'betaRecords(first: 10)',
  )
})

test('a token that may not read the types, and a page without a base, have a tab that runs', async () => {
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const { token } = await world.newToken([{ base: 'other', permission: 'read' }])
  const [text, ...others] = await starters('/graphql/crm', 'crm', sendAs(token))
  expect([text, others]).toEqual([expect.stringContaining('_base'), []])
  const [all = ''] = await starters('/graphql', '', sendAs(token))
  expect(succeed(await world.call('POST', '/graphql', { query: all })).data.bases.data).not.toEqual([])
})

test('a subscription is a stream of its changes, and other operations are one answer', {
  tags: 'full',
}, async () => {
  const run = fetcherOf('/graphql/crm', sendAs(world.adminToken))
  expect(await run({ query: '{ _base }' }, { documentAST: parse('{ _base }') })).toEqual({
    data: { _base: 'crm' },
  })
  const schema = await fetch(`${world.url}/graphql/crm/schema.graphql`, {
    headers: { authorization: `Bearer ${world.adminToken}` },
  })
  const fields =
    buildASTSchema(parse(await schema.text()))
      .getSubscriptionType()
      ?.getFields() ?? {}
  expect(Object.keys(fields)).toContain('ticketChanges')
  const query = 'subscription { ticketChanges { __typename } }'
  const events = (await run({ query }, { documentAST: parse(query) })) as AsyncGenerator<unknown>
  const first = events.next()
  const writing = setInterval(
    () => void world.call('PATCH', '/v1/crm/records/ticket/t1', { data: { title: `${Math.random()}` } }),
    200,
  )
  try {
    expect((await first).value).toMatchObject({ data: { ticketChanges: { __typename: expect.any(String) } } })
  } finally {
    clearInterval(writing)
    await events.return(undefined)
  }
})

// Where the machine has no Chromium, the name of the test says why it is skipped.
test.skipIf(!CHROMIUM)(
  'Prettify formats the query, and a refused token stays in its field, in Chromium if there is one',
  { tags: 'full', timeout: 180_000 },
  async () => {
    const browser = await openBrowser()
    const page = await browser.newPage()
    const tabs = 'plinth:/graphql/crm:graphiql:tabState'
    const tab = {
      id: 'a',
      query: '{ticketRecords{nodes{id}}}',
      title: 'a',
      hash: '',
      variables: null,
      headers: null,
      operationName: null,
      response: null,
    }
    const sign = async (token: string) => {
      await page.locator('#token').fill(token)
      await page.locator('#plinth-sign-in button').first().click()
    }
    const stored = () => page.evaluate((key) => localStorage.getItem(key) ?? '', tabs)
    try {
      await page.goto(`${world.url}/graphql/crm`)
      await sign('plt_wrong')
      await page.locator('#plinth-sign-in [role=status]:not(:empty)').waitFor()
      expect(await page.locator('#token').inputValue()).toBe('plt_wrong')
      expect(await page.locator('#plinth-sign-in').textContent()).toContain('Base crm at 127.0.0.1')
      const state = JSON.stringify({ activeTabIndex: 0, tabs: [tab] })
      await page.evaluate(([key, value]) => localStorage.setItem(key, value), [tabs, state] as const)
      await sign(world.adminToken)
      await page.locator('.graphiql-query-editor .view-lines:not(:empty)').waitFor()
      await page.getByRole('button', { name: /^Prettify/ }).click()
      await eventually(async () =>
        (await stored()).includes('{\\n  ticketRecords {\\n    nodes {') ? true : undefined,
      )
    } finally {
      await browser.close()
    }
  },
)
