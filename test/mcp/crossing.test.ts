import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Provider } from '../../src/mcp/protocol/provider.ts'
import { cases } from '../support/cases.ts'
import { openSession } from '../support/mcp-session.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

const CASES = cases(200, 25)
/** Clients at once: the server closes connections above its limit. */
const CLIENTS = Math.min(CASES, 200)
const ROUNDS = Math.ceil(CASES / CLIENTS)
const BATCH = 25
const text = (words: string) => [{ type: 'text', text: words }]

/** Returns the name of the caller after a varying delay, and sends it as progress. */
const provider: Provider = {
  about: { name: 'echo', title: 'Echo', version: '1.0.0' },
  instructions: async () => '',
  tools: {
    list: async () => ({ tools: [] }),
    call: async ({ context }, _name, { n }, caller) => {
      const who = `${context.scope.actor.name} ${n}`
      for (let turns = Number(n) % 7; turns > 0; turns--) await turn()
      caller.progress(1, 2, who)
      if (Number(n) % 5 !== 0) return { content: text(who) }
      const asked = await caller.elicit(who, { type: 'object', properties: {} })
      return { content: text(asked.outcome === 'accepted' ? `${asked.content['me']} ${n}` : who) }
    },
  },
}

let server: TestServer
let tokens: { name: string; token: string }[]
beforeAll(async () => {
  server = await openServer({}, undefined, provider)
  const make = async (n: number) => {
    const grants = [{ base: '*', record_type: '*', environment: '*', permission: 'read' }]
    const name = `client-${n}`
    const { body } = await server.call('POST', '/v1/tokens', { name, grants })
    return { name, token: body.token as string }
  }
  tokens = []
  for (let n = 0; n < CLIENTS; n++) tokens.push(await make(n))
})
afterAll(() => server.close())

const call = (id: number, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { n: id }, ...more },
})

test('parallel calls with the same ids under many tokens each get their own result', {
  tags: ['full', 'sampled'],
}, async () => {
  const answerAll = () =>
    Promise.all(
      tokens.flatMap(({ name, token }) =>
        [0, 1].map(async () => {
          const calls = Array.from({ length: BATCH }, (_, n) => call(n))
          const { body } = await server.as(token)('POST', '/mcp', calls)
          for (const { id, result } of body) expect(result.content[0].text).toBe(`${name} ${id}`)
          return body.length as number
        }),
      ),
    )
  for (let round = 0; round < ROUNDS; round++)
    expect((await answerAll()).reduce((sum, each) => sum + each, 0)).toBe(CLIENTS * BATCH * 2)
})

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}
const HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
/** A call without a session; with a progress token its response is a stream. */
const callAlone = async (token: string, n: number, more: object = {}, meta: object = {}, path = '/mcp') => {
  const body = call(n, { _meta: { ...META, ...meta }, ...more })
  const { text } = await server.as(token)('POST', path, body, HEADERS)
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
  return (events.length > 0 ? events : [text]).map((each): Body => JSON.parse(each))
}

test('stateless calls in parallel each get their own progress, question and result', {
  tags: 'full',
}, async () => {
  const calls = tokens.flatMap(({ name, token }, client) =>
    [0, 1, 5, 6, 13].map(async (n) => {
      const said = await callAlone(token, n, {}, { progressToken: `${client}` })
      expect(said).toHaveLength(2)
      expect(said[0].params).toMatchObject({ progressToken: `${client}`, message: `${name} ${n}` })
      const { id, result } = said[1]
      expect(id).toBe(n)
      if (n % 5 !== 0) return expect(result.content).toEqual(text(`${name} ${n}`))
      const [[key, question] = []] = Object.entries<Body>(result.inputRequests)
      expect(question.params.message).toBe(`${name} ${n}`)
      const { requestState } = result
      const inputResponses = { [String(key)]: { action: 'accept', content: { me: name } } }
      const [answered] = await callAlone(token, n, { inputResponses, requestState })
      expect(answered).toMatchObject({ id: n, result: { content: text(`${name} ${n}`) } })
      const stranger = tokens[(client + 1) % CLIENTS]?.token ?? ''
      const [refused] = await callAlone(stranger, n, { inputResponses, requestState })
      expect(refused).toMatchObject({ id: n, error: { code: -32602 } })
    }),
  )
  await Promise.all(calls)
})

test('an elicitation answer is accepted only at the URL and with the options of its question', {
  tags: 'full',
}, async () => {
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/bases/other', {})
  const token = server.adminToken
  const asked = '/mcp/crm?types=a,b'
  const [{ result }] = await callAlone(token, 5, {}, {}, asked)
  const [key] = Object.keys(result.inputRequests)
  const inputResponses = { [String(key)]: { action: 'accept', content: { me: 'me' } } }
  const answer = { inputResponses, requestState: result.requestState }
  for (const path of [
    '/mcp',
    '/mcp/crm',
    '/mcp/other?types=a,b',
    '/mcp/crm?types=a',
    `${asked}&readonly=1`,
    `${asked}&tools=batch`,
  ]) {
    const [refused] = await callAlone(token, 5, answer, {}, path)
    expect(refused, path).toMatchObject({ error: { code: -32602 } })
  }
  for (const path of [asked, '/mcp/crm?types=b,a']) {
    const [answered] = await callAlone(token, 5, answer, {}, path)
    expect(answered.result.content, path).toEqual(text('me 5'))
  }
})

test('progress and questions are sent to the session of the call, which accepts only its own answers', {
  tags: 'full',
}, async () => {
  const capabilities = { elicitation: {} }
  const some = tokens.slice(0, 20)
  const sessions = await Promise.all(
    some.map(async ({ name, token }) => ({
      name,
      session: await openSession(server, { token, capabilities, path: '/mcp' }),
    })),
  )
  const streams = await Promise.all(
    sessions.map(async ({ name, session }) => {
      const { params } = call(5, { _meta: { progressToken: 'p' } })
      return { name, session, stream: await session.streaming('tools/call', params, 5) }
    }),
  )
  for (const { name, stream } of streams) {
    const [progress, question] = await stream.until(2)
    expect(progress?.data.params).toMatchObject({ progressToken: 'p', message: `${name} 5` })
    expect(question?.data).toMatchObject({ method: 'elicitation/create', params: { message: `${name} 5` } })
  }
  // All clients send the same ids; each session must accept only its own answer.
  const accept = (id: number, me: string): Body => ({
    jsonrpc: '2.0',
    id,
    result: { action: 'accept', content: { me } },
  })
  for (const { name, session, stream } of streams) {
    const id = stream.events[1]?.data.id
    expect((await session.send(accept(id + 1, 'guessed'))).status).toBe(202)
    expect((await session.send(accept(id, name))).status).toBe(202)
  }
  for (const { name, stream } of streams) {
    const [, , answer] = await stream.until(3)
    expect(answer?.data).toMatchObject({ id: 5, result: { content: text(`${name} 5`) } })
    await stream.ended
  }
})
