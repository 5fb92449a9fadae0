/** The sign-in of the GraphQL playground: its script runs here with the parts of a browser that it uses. */
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../support/world.ts'

type Sent = { url: string; authorization: string | null }
type Form = { submit(token: string): void; hidden: boolean }

let world: World
let script: string
beforeAll(async () => {
  world = await openWorld()
  const page = await world.as(null)('GET', '/graphql/crm', undefined, { accept: 'text/html' })
  expect(page.status).toBe(200)
  script =
    /<script>\n(\{\n {2}const KEY = [\s\S]*?)<\/script>/.exec(page.text)?.[1] ?? expect.fail('no script')
})
afterAll(() => world.close())

/** Opens the page in a tab that keeps `session`. */
function openPage(session: Map<string, string>, path = '/graphql/crm') {
  const local = new Map<string, string>()
  let reloads = 0
  const sent: Sent[] = []
  const send = async (input: string | URL, init: RequestInit = {}) => {
    const url = new URL(input, world.url)
    sent.push({ url: url.href, authorization: new Headers(init.headers).get('authorization') })
    return url.origin === world.url ? fetch(url, init) : new Response()
  }
  const storage = (map: Map<string, string>) => ({
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  })
  const element = () => {
    const listeners = new Map<string, (event: object) => void>()
    return {
      hidden: true,
      textContent: '',
      value: '',
      options: [] as string[],
      elements: { token: { focus: () => {} } },
      addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
      append(...options: { value: string }[]) {
        this.options.push(...options.map(({ value }) => value))
      },
      fire: (name: string) => listeners.get(name)?.({ preventDefault: () => {} }),
    }
  }
  const [form, bases, out, status, select] = [element(), element(), element(), element(), element()]
  const byId: Record<string, object> = {
    'plinth-bar': { querySelector: () => status },
    'plinth-sign-in': form,
    'plinth-bases': Object.assign(bases, { querySelector: () => select }),
    'plinth-sign-out': out,
  }
  let typed = ''
  const window: { fetch: typeof send } = { fetch: send }
  runInNewContext(script, {
    ...{ window, URL, Headers, Request },
    document: { getElementById: (id: string) => byId[id] },
    location: { href: world.url + path, origin: world.url, pathname: path, reload: () => void reloads++ },
    sessionStorage: storage(session),
    localStorage: storage(local),
    Option: class {
      value: string
      constructor(_: string, value: string) {
        this.value = value
      }
    },
    FormData: class {
      get() {
        return typed
      }
    },
  })
  return {
    ...{
      sent,
      status,
      select,
      local,
      reloads: () => reloads,
      send: (...args: Parameters<typeof send>) => window.fetch(...args),
    },
    form: {
      submit: (token: string) => {
        typed = token
        form.fire('submit')
      },
      get hidden() {
        return form.hidden
      },
    } satisfies Form,
  }
}

test('a request of GraphiQL waits for the token, and sends it in a header', async () => {
  const session = new Map<string, string>()
  const page = openPage(session)
  expect(page.form.hidden).toBe(false)
  const answer = page.send('/graphql/crm', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ _base }' }),
  })
  page.form.submit(world.adminToken)
  expect(await (await answer).json()).toEqual({ data: { _base: 'crm' } })
  expect([...session.values()]).toEqual([world.adminToken])
  expect(page.sent.every(({ url }) => !url.includes(world.adminToken))).toBe(true)
  await expect.poll(() => page.select.options).toEqual(['', 'crm'])
  expect(page.form.hidden).toBe(true)
})

test('a wrong token is refused with the message of the server, and is not kept', async () => {
  const session = new Map<string, string>()
  const page = openPage(session)
  page.form.submit('plt_wrong')
  await expect.poll(() => page.status.textContent).toBe('The token is missing or not valid.')
  expect(page.form.hidden).toBe(false)
  expect(session.size).toBe(0)
})

test('the tab keeps the token over a reload', async () => {
  const page = openPage(new Map([['plinth.token', world.adminToken]]))
  await expect.poll(() => page.select.options).toEqual(['', 'crm'])
})

test('a header that the user wrote stays, and another host gets no token', async () => {
  const page = openPage(new Map([['plinth.token', world.adminToken]]))
  await page.send('/graphql/crm', { method: 'POST', headers: { authorization: 'Bearer own' } })
  await page.send('https://example.com/', {})
  expect(page.sent).toContainEqual({ url: `${world.url}/graphql/crm`, authorization: 'Bearer own' })
  expect(page.sent).toContainEqual({ url: 'https://example.com/', authorization: null })
})

test('the first visit of a base starts with a query of its records that runs', async () => {
  expect((await world.call('PUT', '/v1/bases/desk', {})).status).toBe(201)
  const type = {
    json_schema: { type: 'object', properties: { title: { type: 'string' }, tags: { type: 'array' } } },
  }
  expect((await world.call('PUT', '/v1/desk/record-types/ticket', type)).status).toBe(201)
  expect((await world.call('PUT', '/v1/desk/records/ticket/t1', { data: { title: 'Help' } })).status).toBe(
    201,
  )
  const page = openPage(new Map([['plinth.token', world.adminToken]]), '/graphql/desk')
  await expect.poll(page.reloads).toBe(1)
  const query = page.local.get('graphiql:query')
  const { body } = await world.call('POST', '/graphql/desk', { query })
  expect(body).toMatchObject({
    data: { ticketRecords: { totalCount: 1, nodes: [{ id: 't1', title: 'Help' }] } },
  })
})
