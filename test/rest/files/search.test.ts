import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectDetail, succeed, times } from '../../support/answers.ts'
import { putFile } from '../../support/files.ts'
import { callTool } from '../../support/mcp.ts'
import { explain, statementsOf } from '../../support/query-plans.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['docs', 'notes'])
    succeed(await world.call('PUT', `/v1/crm/file-types/${type}`, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

const at = (path: string, type = 'docs', base = 'crm') => `/v1/${base}/files/${type}/${path}`
const put = async (path: string, text: string, headers = {}, type = 'docs') => {
  const { status } = await putFile(world.call, type, path, text, headers)
  expect(status).toBeLessThan(300)
}
const search = async (query: string, base = 'crm', call: Call = world.call) =>
  succeed(await call('GET', `/v1/${base}/files?${query}`))
const found = async (words: string, more = '', base = 'crm'): Promise<string[]> =>
  (await search(`search=${encodeURIComponent(words)}${more}`, base)).data.map(({ path }: Body) => path)

describe('a search of files', () => {
  test('finds words of texts and paths with a typo, best first, with a score and snippets', {
    tags: 'full',
  }, async () => {
    await put('s/ode.txt', 'Thou wast not born for death, immortal bird! The nightingale sings.')
    await put('s/nightingale.md', 'About birds.', { 'content-type': 'text/markdown' })
    await put('s/other.txt', 'Nothing of note.')
    expect(await found('nightingale', '&prefix=s/')).toEqual(['s/nightingale.md', 's/ode.txt'])
    expect(await found('nihgtingale immortal')).toEqual(['s/ode.txt'])
    const { data } = await search('search=nightingale&snippets=true&prefix=s/')
    expect(data[0]).toMatchObject({
      file_type: 'docs',
      _snippets: [{ field: 'path', matches: ['nightingale'] }],
    })
    expect(data[1]._snippets).toMatchObject([{ field: 'text', matches: ['nightingale'] }])
    expect(data[0]._search_score).toBeGreaterThan(data[1]._search_score)
    expect((await search('search=nightingale')).data[0]).not.toHaveProperty('_snippets')
  })

  test('finds words that a write did not look for, since the server knows them', {
    tags: 'full',
  }, async () => {
    await put('k/first.txt', 'saxophones and trombones')
    await put('k/second.txt', 'trombones and épinettes')
    await put('k/third.txt', 'saxophones and EPINETTES')
    for (const [words, paths] of [
      ['trombones', ['k/first.txt', 'k/second.txt']],
      ['trombons', ['k/first.txt', 'k/second.txt']],
      ['saxophones', ['k/first.txt', 'k/third.txt']],
      ['epinette', ['k/second.txt', 'k/third.txt']],
    ] as const)
      expect((await found(words)).sort(), words).toEqual(paths)
  })

  test('finds words in a base that takes the place of a deleted one', { tags: 'full' }, async () => {
    for (const life of [1, 2]) {
      succeed(await world.call('PUT', '/v1/bases/brief', {}), 201)
      succeed(await world.call('PUT', '/v1/brief/file-types/docs', {}), 201)
      const text = { 'content-type': 'text/plain' }
      succeed(await world.call('PUT', at('a.txt', 'docs', 'brief'), 'kookaburra', text), 201)
      succeed(await world.call('PUT', at('b.txt', 'docs', 'brief'), `kookaburra ${life}`, text), 201)
      expect((await found('kookabura', '', 'brief')).sort()).toEqual(['a.txt', 'b.txt'])
      succeed(await world.call('DELETE', '/v1/bases/brief?confirm=brief'))
    }
  })

  test('does not know a word of a write that was rolled back', async () => {
    succeed(
      await world.call('PUT', `${at('r/none.txt')}?dry_run=true`, 'marimba', {
        'content-type': 'text/plain',
      }),
      201,
    )
    expect(await found('marimba')).toEqual([])
    await put('r/some.txt', 'marimba')
    expect(await found('marimb')).toEqual(['r/some.txt'])
  })

  test('reads JSON and other texts by their type, and no bytes that are no text', async () => {
    await put('t/a.json', '{"word":"quokka"}', { 'content-type': 'application/json' })
    await put('t/b.svg', '<svg>quokka</svg>', { 'content-type': 'image/svg+xml' })
    await put('t/c.bin', 'quokka', { 'content-type': 'application/octet-stream' })
    await put('t/d.txt', 'quokka\u0000')
    expect((await found('quokka')).sort()).toEqual(['t/a.json', 't/b.svg'])
    succeed(await world.call('PATCH', at('t/c.bin'), { content_type: 'text/plain' }))
    succeed(await world.call('PATCH', at('t/a.json'), { content_type: 'application/octet-stream' }))
    expect((await found('quokka')).sort()).toEqual(['t/b.svg', 't/c.bin'])
  })

  test('follows new versions, edits, moves, deletions and their reverts', { tags: 'full' }, async () => {
    const revert = async () => {
      const { data } = succeed(await world.call('GET', '/v1/crm/changes?kind=file&order=desc&limit=1'))
      succeed(await world.call('POST', `/v1/crm/changes/${data[0].seq}/revert`))
    }
    await put('f/one.txt', 'wombat')
    await put('f/one.txt', 'numbat')
    expect([await found('wombat'), await found('numbat')]).toEqual([[], ['f/one.txt']])
    succeed(await world.call('PATCH', at('f/one.txt'), { edits: [{ find: 'numbat', replace: 'bilby' }] }))
    expect([await found('numbat'), await found('bilby')]).toEqual([[], ['f/one.txt']])
    succeed(await world.call('PATCH', at('f/one.txt'), { path: 'f/renamed.txt' }))
    expect(await found('renamed bilby')).toEqual(['f/renamed.txt'])
    expect(await found('one bilby')).toEqual([])
    succeed(await world.call('DELETE', at('f/renamed.txt')))
    expect(await found('bilby')).toEqual([])
    await revert()
    expect(await found('bilby')).toEqual(['f/renamed.txt'])
    succeed(
      await world.call('PUT', `${at('f/dry.txt')}?dry_run=true`, 'potoroo', { 'content-type': 'text/plain' }),
      201,
    )
    expect(await found('potoroo')).toEqual([])
  })

  test('covers all types of the base or one, and none that is deleted', { tags: 'full' }, async () => {
    await put('a.txt', 'dugong', {}, 'notes')
    await put('b.txt', 'dugong')
    expect((await found('dugong')).sort()).toEqual(['a.txt', 'b.txt'])
    expect(await found('dugong', '&file_type=notes')).toEqual(['a.txt'])
    expectDetail(await world.call('GET', '/v1/crm/files?search=x&file_type=absent'), 404, {
      code: 'file_type_not_found',
    })
    succeed(await world.call('PUT', '/v1/crm/file-types/gone', {}), 201)
    await put('c.txt', 'dugong', {}, 'gone')
    succeed(await world.call('DELETE', '/v1/crm/file-types/gone?confirm=gone'))
    expect((await found('dugong')).sort()).toEqual(['a.txt', 'b.txt'])
  })

  test('takes all words or any, and pages by cursor and offset', async () => {
    for (const i of [1, 2, 3]) await put(`p/${i}.txt`, `echidna ${i === 2 ? 'platypus' : ''}`)
    expect(await found('echidna platypus')).toEqual(['p/2.txt'])
    expect((await found('echidna platypus', '&match=any'))[0]).toBe('p/2.txt')
    expect(await found('echidna platypus', '&match=any')).toHaveLength(3)
    const first = await search('search=echidna&limit=2&include_total=true')
    expect(first.meta).toMatchObject({ has_more: true, total: 3 })
    const second = await search(`search=echidna&limit=2&cursor=${first.meta.next_cursor}`)
    const whole = await found('echidna')
    expect([...first.data, ...second.data].map(({ path }: Body) => path)).toEqual(whole)
    expect(await found('echidna', '&limit=1&offset=1')).toEqual([whole[1]])
    expectDetail(
      await world.call('GET', `/v1/crm/files?search=other&cursor=${first.meta.next_cursor}`),
      400,
      {
        path: 'query/cursor',
      },
    )
  })

  test('needs a word, and names what is wrong', async () => {
    expectDetail(await world.call('GET', '/v1/crm/files'), 400, { path: 'query/search' })
    expectDetail(await world.call('GET', '/v1/crm/files?search=%20-'), 400, {
      path: 'query/search',
      code: 'no_words',
    })
    expectDetail(await world.call('GET', '/v1/crm/files?search=x&match=some'), 400, { path: 'query/match' })
    expectDetail(await world.call('GET', '/v1/crm/files?search=x&snippets=true&limit=500'), 400, {
      path: 'query/limit',
    })
    expectDetail(await world.call('GET', `/v1/crm/files?search=${'x'.repeat(1001)}`), 400, {
      path: 'query/search',
    })
    expect(await world.call('GET', '/v1/absent/files?search=x')).toMatchObject({ status: 404 })
  })
})

describe('what a token may not read', () => {
  test('is found by no surface: files need a grant on the whole base', { tags: 'full' }, async () => {
    await put('hidden.txt', 'thylacine')
    const typed = await world.newToken([{ record_type: 'deal', permission: 'admin' }])
    expect(await typed.call('GET', '/v1/crm/files?search=thylacine')).toMatchObject({ status: 403 })
    const query = '{ searchFiles(base: "crm", search: "thylacine") { data { file { path } } } }'
    const { body } = await typed.call('POST', '/graphql', { query })
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    expect(JSON.stringify(body)).not.toContain('hidden.txt')
    for (const at of ['/mcp/crm?tools=search,fetch', '/mcp/crm?profile=lean']) {
      const all = await callTool(world, at, 'search', { query: 'thylacine' })
      expect(all.body.results).toMatchObject([{ id: 'files/docs/hidden.txt' }])
      const less = await callTool(world, at, 'search', { query: 'thylacine' }, { token: typed.token })
      expect(less.body.results).toEqual([])
    }
    const narrowed = await callTool(world, '/mcp/crm?tools=search&types=deal', 'search', {
      query: 'thylacine',
    })
    expect(narrowed.body.results).toEqual([])
  })

  test('is not in another base, and a preview finds its own files only', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
    const preview = succeed(await world.call('POST', '/v1/crm/preview', { name: 'try' }), 201)
    await put('prod.txt', 'kowari')
    expect(await found('kowari', '', 'other')).toEqual([])
    expect(await found('kowari', '', preview.id)).toEqual([])
    succeed(
      await world.call('PUT', at('mine.txt', 'docs', preview.id), 'kowari', { 'content-type': 'text/plain' }),
      201,
    )
    expect(await found('kowari', '', preview.id)).toEqual(['mine.txt'])
    expect(await found('kowari')).toEqual(['prod.txt'])
  })
})

describe('MCP search and fetch', () => {
  test('find records and files together, and read a file', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: { title: 'Bandicoot deal' } }), 201)
    await put('m/ä b.txt', 'The bandicoot report.')
    const tools = '/mcp/crm?tools=search,fetch'
    const { body } = await callTool(world, tools, 'search', { query: 'bandicoot', snippets: true })
    expect(body.results.map(({ id }: Body) => id).sort()).toEqual([
      'deal/d1',
      'files/docs/m%2F%C3%A4%20b.txt',
    ])
    const file = body.results.find(({ id }: Body) => id.startsWith('files/'))
    expect(file).toMatchObject({ title: 'm/ä b.txt', snippets: [{ field: 'text', matches: ['bandicoot'] }] })
    const read = await callTool(world, tools, 'fetch', { id: file.id })
    expect(read.body).toMatchObject({
      id: file.id,
      title: 'm/ä b.txt',
      metadata: { path: 'm/ä b.txt', version: 1 },
    })
    expect(read.body.text).toMatch(/^Untrusted data.*\nThe bandicoot report\.$/s)
    expect((await callTool(world, tools, 'fetch', { id: 'files/docs/absent' })).error).toMatchObject({
      code: 'NOT_FOUND',
      details: [{ path: '/id' }],
    })
  })
})

describe('plans', () => {
  test('read no table from end to end, without statistics and with them', {
    tags: 'full',
    timeout: 600_000,
  }, async () => {
    const words = times(200, (i) => `word${i}`)
    succeed(await world.call('PUT', '/v1/crm/file-types/bulk', {}), 201)
    for (let i = 0; i < 2000; i += 50)
      await Promise.all(
        times(50, (j) =>
          put(`bulk/${i + j}.txt`, `${words[(i + j) % 200]} ${words[(i * 7 + j) % 200]} common`, {}, 'bulk'),
        ),
      )
    const ask = async () => {
      expect(await found('word17', '&prefix=bulk/')).not.toEqual([])
      expect(await found('wrod17 common', '&prefix=bulk/&limit=5')).not.toEqual([])
      await found('word3 word9', '&match=any&limit=5')
      await put('bulk/new.txt', 'one new word17', {}, 'bulk')
      await world.database.query(`SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
      await vi.waitFor(
        async () => expect(await world.database.query('SELECT FROM graphile_worker.jobs')).toEqual([]),
        { timeout: 20_000 },
      )
    }
    for (const analyzed of [false, true]) {
      if (analyzed)
        for (const table of ['file', 'record_text', 'record_word'])
          await world.database.query(`ANALYZE plinth.${table}`)
      const ran = await statementsOf(ask)
      expect(ran.map(({ name }) => name)).toContain('purge_file_trash')
      // The renewal of statistics may run beside the requests.
      const asked = ran.filter(({ text }) => !text.startsWith('ANALYZE'))
      for (const each of asked.filter(({ text }) => /record_text|record_word|plinth\.file\b/.test(text))) {
        const plan = await explain(world.database, each)
        expect(
          plan.scans.filter((table) => ['file', 'record_text'].includes(table)),
          `${each.text}\n${plan.text}`,
        ).toEqual([])
      }
    }
  })
})
