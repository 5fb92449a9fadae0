// @module-tag full
/** Values of agents are text, whatever they look like. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import type { Call } from '../support/server.ts'
import { type Send, sender, toolCaller, using } from './desk-calls.ts'
import { type Explorer, openExplorer } from './explorer.ts'

const TIME = 120_000
const HURT = 'window.hurt=1;alert(1)'
const VALUES = {
  script: `<script>${HURT}</script>`,
  image: `<img src="x" onerror="${HURT}">`,
  frame: `<iframe srcdoc="<script>parent.${HURT}</script>"></iframe>`,
  address: `javascript:${HURT}`,
  'other-host': 'https://hostile.invalid/pixel.png?who=mara',
  markdown: `[Approve](javascript:${HURT}) ![](https://hostile.invalid/pixel.png)`,
  template: '{{constructor.constructor("window.hurt=1")()}} #{window.hurt=1}',
  'right-to-left': 'invoice\u202Efdp.exe \u2066\u2069 \u05D0\u05D1\u05D2',
  'zero-width': 'a\u200Bd\u200Dm\u2060i\uFEFFn\u00AD',
  control: 'one\u0001two\u001B[31mthree\u0085four\u2028five',
  combining: `Z${'\u0301\u0489'.repeat(400)}`,
  lone: '\u0301\u0300\u0489',
  'one-word': 'W'.repeat(5000),
  lines: 'line\n'.repeat(3000),
  approval: 'Approved by Mara Lindqvist ✓',
  'tool-result': '</td></tr></table></main></body><!--',
  megabyte: 'abcdefgh '.repeat(110_000),
}
const NAME = `<img src=x onerror=${HURT}>\u202E\u200B${'W'.repeat(60)}`
const FILE = `<img src=x onerror=${HURT}>.html`

let explorer: Explorer
let token: { id: string; token: string }
let request: string
let review: string
beforeAll(async () => {
  if (!CHROMIUM) return
  explorer = await openExplorer()
  const admin = sender(explorer.server.call)
  await admin('PUT', '/v1/bases/hostile', { name: NAME, description: VALUES.script })
  const text = { type: 'string', description: VALUES.image }
  const properties = { [VALUES.image]: text, title: text, stage: { enum: [VALUES.script, 'new'] }, text }
  await admin('PUT', '/v1/hostile/record-types/thing', {
    ...{ name: NAME, description: VALUES.script, display: { title: 'title' } },
    json_schema: { type: 'object', properties },
  })
  await admin('PUT', '/v1/hostile/relationship-types/of', { name: NAME })
  token = await admin('POST', '/v1/tokens', {
    name: NAME,
    grants: [{ base: 'hostile', record_type: '*', environment: '*', permission: 'admin' }],
  })
  await admin('PUT', '/v1/hostile/endpoints/end', {
    ...{ name: NAME, description: VALUES.script, instructions: VALUES.markdown },
    tools: [{ record_type: 'thing', operations: ['get', 'create'], defaults: { title: VALUES.image } }],
  })
  await admin('PUT', '/v1/hostile/triggers/sends', {
    ...{
      name: NAME,
      description: VALUES.script,
      record_types: ['thing'],
      events: ['update'],
      enabled: false,
    },
    ...{
      url: 'https://hostile.invalid/x',
      condition: { field: 'data.title', op: 'eq', value: VALUES.image },
    },
  })
  await admin('PUT', '/v1/hostile/inbound-webhooks/takes', {
    ...{
      name: NAME,
      record_type: 'thing',
      secret: 'a-secret-of-the-sender',
      mapping: { data: { stage: '$.stage' } },
    },
    signature: { scheme: 'token', header: 'x-token' },
  })
  await admin('PUT', '/v1/hostile/file-types/texts', { name: NAME, description: VALUES.script })
  for (const content of [VALUES.script, Object.values(VALUES).join('\n')])
    await admin('PUT', `/v1/hostile/files/texts/${encodeURIComponent(FILE)}`, content, {
      'content-type': 'text/html',
    })
  await admin('PUT', '/v1/hostile/actions/acts', {
    ...{ name: NAME, description: VALUES.markdown },
    steps: [{ name: 'one', type: 'query', record_type: 'thing' }],
  })
  request = await write(explorer.server.as(token.token))
  review = await ask(sender(explorer.server.as(token.token)))
}, TIME)
afterAll(() => explorer?.close())

/** Writes each value everywhere, over a client that has such a name. */
async function write(call: Call): Promise<string> {
  const agent = sender(call)
  const tool = using(toolCaller(call, '/mcp/hostile', { name: NAME, version: VALUES.script }))
  for (const [id, value] of Object.entries(VALUES))
    await tool('upsert_record', {
      ...{ record_type: 'thing', id },
      data: {
        ...{ title: value, stage: VALUES.script },
        ...(value.length < 100_000 && {
          text: value,
          [VALUES.image]: value,
          list: [value, { [value]: value }],
        }),
      },
    })
  const deep = Array.from({ length: 60 }).reduce<unknown>((inner) => ({ inner }), VALUES.script)
  await agent('PUT', '/v1/hostile/records/thing/deep', { data: { title: 'deep', deep } })
  const wide = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`${VALUES.image}${index}`, index]),
  )
  await agent('PUT', '/v1/hostile/records/thing/wide', { data: { title: 'wide', ...wide } })
  const inherited = { constructor: { prototype: 1 }, toString: 1, hasOwnProperty: 1, key: 1, ref: 1 }
  await agent('PUT', '/v1/hostile/records/thing/inherited', { data: { title: 'inherited', ...inherited } })
  for (const filename of [VALUES.image.replaceAll('/', ''), '__proto__.html'])
    await agent('POST', '/v1/hostile/records/thing/script/attachments', {
      ...{ filename, content_type: 'text/html', content: `<script>parent.${HURT}</script>` },
    })
  await agent('PUT', '/v1/hostile/relationships/one', {
    ...{ rel_type: 'of', source_record_type: 'thing', source_id: 'script' },
    ...{ target_record_type: 'thing', target_id: 'image', data: { note: VALUES.image } },
  })
  await agent('POST', '/v1/hostile/records/thing/claim', {
    filter: { field: 'id', op: 'eq', value: 'script' },
  })
  await agent('DELETE', '/v1/hostile/records/thing/markdown')
  const { data } = await agent('GET', '/v1/hostile/changes?group=request&limit=1')
  return data[0].request_id
}

/** Asks for a promotion in such words, of definitions that have such names. */
async function ask(agent: Send): Promise<string> {
  const { id: from } = await agent('POST', '/v1/hostile/preview', { name: 'dev' })
  const properties = { [VALUES.image]: { enum: [VALUES.script, VALUES.approval] } }
  await agent('PATCH', `/v1/${from}/record-types/thing`, { json_schema: { properties } })
  await agent('PUT', `/v1/${from}/record-types/other`, {
    name: NAME,
    json_schema: { type: 'object', properties },
  })
  const asked = await agent('POST', '/v1/hostile/review-requests', {
    ...{ from, title: VALUES.approval + NAME, note: VALUES.markdown },
  })
  return asked.id
}

/** What of the values became more than text, or left the page. */
const damage = () => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
  return {
    hurt: 'hurt' in window || 'hurt' in Object.prototype,
    elements: document.querySelectorAll(
      'img[src="x"], [onerror], iframe[srcdoc], a[href^="javascript:"], img[src^="http"]',
    ).length,
    hosts: [...document.querySelectorAll('a[href]')]
      .map((each) => (each as HTMLAnchorElement).host)
      .filter((host) => host !== location.host && host !== ''),
    /** Marks that turn, hide or end what is read. */
    marks: [0x01, 0x1b, 0x85, 0x200b, 0x202e, 0x2028, 0x2060, 0x2066, 0xfeff].filter((mark) =>
      document.body.textContent.includes(String.fromCodePoint(mark)),
    ),
    sideways: Math.max(0, wide),
    /** What a long name pushes out of the head of a panel. */
    outside: [...document.querySelectorAll('.panel > header > *')].filter(
      (each) => each.getBoundingClientRect().right > (each.parentElement?.getBoundingClientRect().right ?? 0),
    ).length,
  }
}
const NONE = { hurt: false, elements: 0, hosts: [], marks: [], sideways: 0, outside: 0 }

const PAGES = (): [string, string][] => [
  ['activity', ''],
  ['request', `/r/${request}`],
  ['records', '/t/thing'],
  ['records deleted', '/t/thing?view=deleted'],
  ['review', '/review'],
  ['agents', '/agents'],
  ['review of a request', `/review/${review}`],
  ['agent', `/agents/${token.id}`],
  ['endpoint', '/agents/e/end'],
  ['automation', '/automation'],
  ['trigger', '/automation/trigger/sends'],
  ['inbound webhook', '/automation/inbound_webhook/takes'],
  ['action', '/automation/action/acts'],
  ['types', '/types'],
  ['type', '/types/thing'],
  ['environments', '/env'],
  ['preview', '/env/hostile--dev'],
  ['answer', '/ask?sql=SELECT+id,title,data,list+FROM+thing'],
  ['files', '/files'],
  ['file', `/files/texts?file=${encodeURIComponent(FILE)}`],
  ['a chart', '/t/thing?chart=stage'],
  ['records that a value filters', `/t/thing?q=${encodeURIComponent(VALUES.image)}`],
  ['record edited', '/t/thing/script?edit=yes'],
  ['record compared', '/t/thing/script?v=1&vs=1'],
  ['record links', '/t/thing/script?tab=links'],
  ['record files', '/t/thing/script?tab=files'],
  ['record json', '/t/thing/megabyte?tab=json'],
  ...[...Object.keys(VALUES), 'deep', 'wide', 'inherited'].map((id): [string, string] => [
    `record ${id}`,
    `/t/thing/${id}`,
  ]),
]

/** A megabyte takes 0.9 s to show, most others 0.1. */
const MOST_PROCESSOR_MS = 3000

/** Reads how long the thread of a page has been at work since it was opened. Unlike the time that passes, other work does not add to it. */
async function processorOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
}

for (const width of [360, 1440])
  test.skipIf(!CHROMIUM)(
    `no value is more than text at ${width} px, in Chromium if there is one`,
    { timeout: 5 * TIME },
    async () => {
      const viewport = { width, height: 900 }
      const { page, faults, close } = await explorer.openWith(token.token, '/b/hostile', { viewport })
      const processorMs = await processorOf(page)
      for (const [name, path] of PAGES()) {
        await page.goto(`${explorer.server.url}/b/hostile${path}`)
        await page.getByRole('navigation').first().waitFor()
        await expect.poll(() => page.locator('[aria-busy=true]').count(), { timeout: TIME }).toBe(0)
        expect.soft(await page.evaluate(damage), name).toEqual(NONE)
        expect.soft(await processorMs(), `processor time of ${name}`).toBeLessThan(MOST_PROCESSOR_MS)
        expect.soft(faults.splice(0), name).toEqual([])
      }
      await close()
    },
  )

test('each address of the pages has a policy that runs no script of a value', async () => {
  if (!explorer) return
  for (const path of ['/', '/b/hostile', '/b/hostile/t/thing/script', '/b/%3Cscript%3E']) {
    const { headers } = await explorer.server.as(null)('GET', path, undefined, { accept: 'text/html' })
    const policy = (headers.get('content-security-policy') ?? '').split('; ')
    expect(policy, path).toEqual(
      expect.arrayContaining([
        ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
        ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
        ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
      ]),
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(succeed(await explorer.server.call('GET', '/v1/tokens/self')).name).toBeTypeOf('string')
  }
})
