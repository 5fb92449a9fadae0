// @module-tag full
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Door } from '../support/mcp-drivers.ts'
import { type Answering, PEERS, type Peer } from '../support/mcp-peer.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { fixtureProvider } from './fixture/provider.ts'
import { WATCHED } from './fixture/resources.ts'

const fixture = fixtureProvider()
let server: TestServer
let peer: Peer

beforeAll(async () => {
  server = await openServer({}, undefined, fixture)
  await server.call('PUT', '/v1/bases/crm', {})
})
afterAll(() => server.close())
afterEach(() => peer.close())

const accept = (content: Body) => ({ action: 'accept', content })
const assistant = (text: string) => ({ role: 'assistant', model: 'test', content: { type: 'text', text } })

const CASES = (['http', 'stdio'] as const).flatMap((way) =>
  (['legacy', 'modern'] as const).map((era) => ({ way, era })),
)

// The full run has legacy clients over stdio too: the parts of that way are those of its neighbours.
for (const { way, era } of CASES)
  describe(`MCP over ${way} with a ${era} client`, {
    tags: way === 'stdio' && era === 'legacy' ? ['full'] : [],
  }, () => {
    const open = async (answering: Answering = {}) => {
      const door: Door = { way, url: server.url, token: server.adminToken, base: 'crm' }
      peer = await PEERS[era](door, answering)
    }
    const call = (name: string, args: Body = {}, options = {}): Promise<Body> =>
      peer.request('tools/call', { name, arguments: args }, options)

    test('transports every content type, resources, templates, prompts and completions unchanged', async () => {
      await open()
      const mixed = await call('test_multiple_content_types')
      expect(mixed.content.map(({ type }: Body) => type)).toEqual(['text', 'image', 'resource'])
      expect((await call('test_audio_content')).content[0]).toMatchObject({ mimeType: 'audio/wav' })
      const { resources } = await peer.request('resources/list')
      expect(resources.map(({ uri }: Body) => uri)).toContain('test://static-binary')
      const { resourceTemplates } = await peer.request('resources/templates/list')
      expect(resourceTemplates).toHaveLength(1)
      const { contents } = await peer.request('resources/read', { uri: 'test://template/ü 1/data' })
      expect(JSON.parse(contents[0].text)).toMatchObject({ id: 'ü 1' })
      const prompt = await peer.request('prompts/get', {
        name: 'test_prompt_with_arguments',
        arguments: { arg1: 'a', arg2: 'b' },
      })
      expect(prompt.messages[0].content.text).toBe("Prompt with arguments: arg1='a', arg2='b'")
      const { completion } = await peer.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
        argument: { name: 'arg1', value: 'part' },
      })
      expect(completion.values).toEqual(['party'])
    })

    test('sends progress and log messages of a call in order, before its result', async () => {
      await open()
      const seen: number[] = []
      await call('test_tool_with_progress', {}, { onprogress: ({ progress }: Body) => seen.push(progress) })
      // Over stdio the SDKs drop notifications that they read together with the result.
      expect(seen).toEqual(way === 'http' ? [0, 50, 100] : [0, 50, 100].slice(0, seen.length))
      await call('test_tool_with_logging')
      const logged = peer.heard.filter(({ method }) => method === 'notifications/message')
      expect(logged.map(({ params }) => params.data)).toEqual([
        'Tool execution started',
        'Tool processing data',
        'Tool execution completed',
      ])
    })

    test('carries elicitation, sampling and roots requests of a call, in sequence and in parallel', async () => {
      const asked: string[] = []
      await open({
        elicitation: ({ message }) => {
          asked.push(message)
          return accept({ name: 'Alice', color: 'blue' })
        },
        sampling: () => assistant('Hello'),
        roots: () => ({ roots: [{ uri: 'file:///test', name: 'Test' }] }),
      })
      const greeted = await call('test_input_required_result_elicitation')
      expect(greeted.content[0].text).toBe('Hello, Alice!')
      await call('test_input_required_result_multi_round')
      expect(asked).toEqual([
        'What is your name?',
        'Step 1: What is your name?',
        'Step 2: What is your favorite color?',
      ])
      const all = await call('test_input_required_result_multiple_inputs')
      for (const part of ['Alice', 'Hello', 'file:///test']) expect(all.content[0].text).toContain(part)
    })

    test('passes on a declined elicitation, and returns -32021 to a client without the capability', async () => {
      await open({ elicitation: () => ({ action: 'decline' }) })
      expect((await call('test_streaming_elicitation')).content[0].text).toContain('decline')
      await expect(call('test_missing_capability')).rejects.toMatchObject({ code: -32021 })
    })

    test('cancels a call on the server when the client cancels it', async () => {
      await open()
      const giving = new AbortController()
      const before = fixture.notes.length
      const waiting = call('test_wait', {}, { signal: giving.signal, onprogress: () => giving.abort() })
      await expect(waiting).rejects.toThrow()
      await until(() => fixture.notes.length === before + 2)
      expect(fixture.notes.slice(before)).toEqual(['waiting', 'given up'])
    })

    test('notifies of changed lists and of subscribed resources only, and unsubscribes on close', async () => {
      await open()
      await peer.follow(WATCHED)
      await until(() => fixture.watchers() > 0)
      fixture.tell({ uri: 'test://static-text' })
      fixture.tell({ uri: WATCHED })
      await call('test_trigger_tool_change')
      await until(() => peer.heard.length >= 2)
      expect(peer.heard).toMatchObject([
        { method: 'notifications/resources/updated', params: { uri: WATCHED } },
        { method: 'notifications/tools/list_changed' },
      ])
      await peer.close()
      await until(() => fixture.watchers() === 0)
    })
  })
