// @module-tag full
/** Every tool of every profile, called by real clients of both eras: each answers both the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { ADMINISTRATION, type Args, fillForTools, GENERIC, LEAN, TYPED } from '../support/tool-samples.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

/** What may differ between two calls: server ids, times, sealed tokens, sequence numbers, and the base. */
const MASKS: readonly (readonly [RegExp, string | ((all: string, name: string) => string)])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, 'TIME'],
  [/(\\?"(?:plan_token|next_cursor|etag|cursor)\\?":\s*\\?")[^"\\]+/g, '$1TOKEN'],
  [/(\\?"(?:seq|last_seq|next_after|next_before|reverts)\\?":\s*)\d+/g, (_, name: string) => `${name}0`],
  [/(\\?"call\\?":\s*\{\\?"id\\?":\s*\\?")[^"\\]+/g, '$1CALL'],
  [/\b[Cc]hange \d+/g, 'change SEQ'],
  [/twins\d+-(?:v1|modern)/g, 'BASE'],
]
const masked = (value: unknown): unknown =>
  JSON.parse(
    MASKS.reduce(
      (text, [pattern, by]) =>
        typeof by === 'string' ? text.replace(pattern, by) : text.replace(pattern, by),
      JSON.stringify(value),
    ),
  )

const ERAS = ['v1', 'modern'] as const
let bases = 0

const PROFILES = [
  { name: 'a base', path: (base: string) => `/mcp/${base}`, calls: [...GENERIC, ...TYPED], of: () => ({}) },
  {
    name: 'the lean profile',
    path: (base: string) => `/mcp/${base}?profile=lean`,
    calls: LEAN,
    of: () => ({}),
  },
  {
    name: 'all bases',
    path: () => '/mcp',
    calls: [...GENERIC, ...ADMINISTRATION],
    of: (base: string, tool: string) => (tool === 'list_bases' ? {} : { base_id: base }),
  },
]

describe.each(PROFILES)('the tools of $name', ({ path, calls, of }) => {
  test('answer clients of both eras the same, with good arguments and with wrong ones', async () => {
    const set = ++bases
    const baseOf = (era: string) => `twins${set}-${era}`
    for (const era of ERAS) await fillForTools(server, baseOf(era))
    const clients = await Promise.all(
      ERAS.map((era) => connect(server.url, server.adminToken, era, path(baseOf(era)))),
    )
    for (const [tool, good, wrong] of calls) {
      // Both at the same time, since some tools show what others did to all bases.
      const play = (args: Args) =>
        Promise.all(
          clients.map((client, n) =>
            client.callTool({ name: tool, arguments: { ...of(baseOf(ERAS[n] ?? ''), tool), ...args } }),
          ),
        )
      // The wrong ones first: they must leave nothing that the good ones would meet.
      for (const [args, isError] of [
        [wrong, true],
        [good, false],
      ] as const) {
        const [older, newer] = await play(args)
        expect(older?.isError ?? false, `${tool}: ${JSON.stringify(older).slice(0, 400)}`).toBe(isError)
        expect(masked(contentOf(newer)), tool).toEqual(masked(contentOf(older)))
      }
    }
    for (const client of clients) await client.close()
  })

  test('are all called by the test', async () => {
    const base = `twins${++bases}-v1`
    await fillForTools(server, base)
    for (const era of ERAS) {
      const client = await connect(server.url, server.adminToken, era, path(base))
      const listed = (await client.listTools()).tools.map(({ name }) => name)
      expect(listed.toSorted()).toEqual(calls.map(([name]) => name).toSorted())
      await client.close()
    }
  })
})

/** What a model reads, without what only one protocol has. */
const contentOf = (result: Body | undefined) => ({
  content: result?.content,
  structuredContent: result?.structuredContent ?? null,
  isError: result?.isError ?? false,
})
