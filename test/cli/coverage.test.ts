import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const type = { json_schema: { type: 'object', properties: { n: { type: 'integer' } } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', type), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: { n: 1 } }), 201)
})
afterAll(() => world.close())

test('`provider` exports and imports tool definitions, and makes a record of a tool call', async () => {
  const exported = await plinth(['provider', 'export', 'openai', '--record-types', 'deal'], settings)
  expect(exported).toMatchObject({ code: 0 })
  const [tool] = JSON.parse(exported.out)
  const name = tool.function?.name ?? tool.name
  expect(name).toMatch(/deal/)
  const tools = JSON.stringify([
    { type: 'function', function: { name: 'note', parameters: { type: 'object', properties: {} } } },
  ])
  const imported = await plinth(['provider', 'import', 'openai', '--tools', '-'], settings, tools)
  expect(imported).toMatchObject({ code: 0, out: expect.stringContaining('note\tcreated') })
  const call = { id: 'c1', type: 'function', function: { name: 'note', arguments: '{"a":1}' } }
  const made = await plinth(
    ['provider', 'call', 'openai', 'note', '--call', JSON.stringify(call), '--json'],
    settings,
  )
  expect(JSON.parse(made.out)).toMatchObject({ record_type: 'note', data: { a: 1 } })
})

test('`query-bases` lists and aggregates across bases', async () => {
  const listed = await plinth(['query-bases', 'deal', '--bases', '*', '--json'], settings)
  expect(JSON.parse(listed.out).data).toMatchObject([{ base_id: 'crm', id: 'd1' }])
  const counted = await plinth(['query-bases', 'deal', '--bases', 'crm', '--fn', 'count'], settings)
  expect(counted).toMatchObject({ code: 0, out: expect.stringContaining('count') })
})

test('`record list` reads its filter from standard input, and expands', { tags: 'full' }, async () => {
  const filter = '{"field":"data.n","op":"eq","value":2}'
  const none = await plinth(['record', 'list', 'deal', '--filter', '-', '--json'], settings, filter)
  expect(JSON.parse(none.out).data).toEqual([])
  const expanded = await plinth(['record', 'list', 'deal', '--expand', 'attachments', '--json'], settings)
  expect(JSON.parse(expanded.out).data[0]).toHaveProperty('_expanded')
})

test('`wait`, `changes --condition` and texts for models read a file', { tags: 'full' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-values-'))
  const file = (name: string) => `@${join(folder, name)}`
  await writeFile(join(folder, 'filter.json'), '{"field":"data.n","op":"eq","value":1}\n')
  await writeFile(join(folder, 'words.md'), 'Ask first.\nThen write.\n')
  const found = await plinth(
    ['wait', 'deal', '--filter', file('filter.json'), '--timeout', '0', '--json'],
    settings,
  )
  expect(JSON.parse(found.out).data).toMatchObject([{ id: 'd1' }])
  const wrong = await plinth(['changes', '--follow', '--condition', '-'], settings, '{"field":"data.n"}')
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('--condition/op') })
  const words = ['--instructions', file('words.md'), '--description', file('words.md')]
  const put = await plinth(['endpoint', 'put', 'shop', ...words, '--json'], settings)
  const text = 'Ask first.\nThen write.\n'
  expect(JSON.parse(put.out)).toMatchObject({ instructions: text, description: text })
  await rm(folder, { recursive: true })
})

test('`batch --ask-first` plans deletions, and its plan token does them', { tags: 'full' }, async () => {
  for (const id of ['b1', 'b2'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: {} }), 201)
  const operations = JSON.stringify(
    ['b1', 'b2'].map((id) => ({ type: 'delete_record', record_type: 'deal', id })),
  )
  const planned = await plinth(['batch', '--ask-first', '--operations', operations], settings)
  const [, token = ''] = /Deletes 2 records.*--plan-token (\S+)\n$/.exec(planned.err) ?? []
  expect((await world.call('GET', '/v1/crm/records/deal/b1')).status).toBe(200)
  expect(await plinth(['batch', '--plan-token', token], settings)).toMatchObject({ code: 0, err: '2 done\n' })
  expect((await world.call('GET', '/v1/crm/records/deal/b1')).status).toBe(404)
})

test('a history names its actors as the change log does', async () => {
  for (const command of [
    ['record', 'history', 'deal', 'd1'],
    ['record-type', 'history', 'deal'],
    ['changes'],
  ]) {
    const { out } = await plinth([...command, '--limit', '1'], settings)
    expect(out).toMatch(/\tadmin \(rest\)[\t\n]/)
  }
})

test('`record-type put --indexes` declares indexes', async () => {
  const put = ['record-type', 'put', 'indexed', '--indexes', '[{"fields":["data.n"]}]', '--json']
  expect(JSON.parse((await plinth(put, settings)).out).indexes).toMatchObject([{ fields: ['data.n'] }])
})

test('`mcp tools` lists the tools of the address that the flags describe', { tags: 'full' }, async () => {
  const { code, out, err } = await plinth(['mcp', 'tools', '--types', 'deal', '--read-only'], settings)
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^\d+ tokens in all\n$/) })
  expect(out).not.toContain('create_deal')
  const whole = await plinth(['mcp', 'tools', '--json'], settings)
  expect(JSON.parse(whole.out).data.map(({ name }: { name: string }) => name)).toContain('create_deal')
})

test('`doctor` shows server, token, bases and the checks of the server, and fails if one is an error', {
  tags: 'full',
}, async () => {
  const well = await plinth(['doctor', '--json'], settings)
  expect(well.code, well.out).toBe(0)
  const { checks } = JSON.parse(well.out)
  expect(checks).toEqual(
    expect.arrayContaining([
      { name: 'readiness', status: 'ok', message: expect.stringContaining('ready') },
      { name: 'bases', status: 'ok', message: '1: crm' },
      { name: 'versions', status: 'ok', message: expect.stringMatching(/^Plinth .*PostgreSQL 1\d/) },
    ]),
  )
  expect(well.out).not.toContain(world.adminToken)
  const { token } = await world.newToken([{ permission: 'read' }])
  const other = await plinth(['doctor'], { ...settings, PLINTH_TOKEN: token })
  expect(other).toMatchObject({ code: 0, out: expect.stringContaining('diagnostics\twarning') })
  const refused = await plinth(['status'], { ...settings, PLINTH_TOKEN: 'plt_none' })
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('UNAUTHORIZED') })
})

test('`doctor` without a server says what is wrong on this machine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-doctor-'))
  const here = { PLINTH_DATA_DIR: folder, PLINTH_PORT: 'x', PLINTH_TOKEN: 'plt_none' }
  await writeFile(join(folder, 'admin-token'), 'plt_open', { mode: 0o644 })
  await writeFile(join(folder, 'server.json'), '{"url":"http://127.0.0.1:1","pid":4194304}')
  const { code, out } = await plinth(['doctor', '--json'], here)
  expect(code).toBe(1)
  const found = Object.fromEntries(
    (JSON.parse(out).checks as { name: string; message: string }[]).map(({ name, message }) => [
      name,
      message,
    ]),
  )
  expect(found).toMatchObject({
    readiness: expect.stringMatching(/plinth serve.*process 4194304, ended/),
    data_directory: expect.stringContaining(`chmod 600 ${join(folder, 'admin-token')}`),
    settings: expect.stringContaining('PLINTH_PORT must be a whole number'),
    disk: expect.stringContaining('GiB are free'),
  })
  expect(out).not.toContain('plt_')
  const away = await plinth(['doctor'], { ...settings, PLINTH_URL: 'http://127.0.0.1:1' })
  expect(away).toMatchObject({ code: 1, out: expect.stringContaining('plinth serve') })
  await rm(folder, { recursive: true })
})

test('the help lists every command in a group, what to start with first', async () => {
  const { out } = await plinth(['--help'], {})
  const groups = [...out.matchAll(/^(\S.*):\n/gm)].map(([, heading]) => heading)
  expect(groups[groups.indexOf('Options') + 1]).toBe('Start here')
  expect(groups.at(-1)).toBe('Commands')
  // Those without a group.
  expect(
    out
      .split('\nCommands:\n')[1]
      ?.match(/^ {2}\w[\w-]*/gm)
      ?.map((name) => name.trim()),
  ).toEqual(['completion', 'help'])
})

test('the help of a put names defaults, and that of a patch has none', async () => {
  const helpOf = async (command: string) => (await plinth(['record-type', command, '--help'], {})).out
  expect(await helpOf('put')).toContain('display name (default: the id)')
  expect(await helpOf('patch')).not.toContain('(default: the id)')
  expect(await helpOf('patch')).toContain('the JSON Schema of its records')
})

test('`serve --help` names the settings, and a port that is none is refused by the name of its setting', {
  tags: 'full',
}, async () => {
  const help = await plinth(['serve', '--help'], {})
  expect(help).toMatchObject({ code: 0, out: expect.stringContaining('DATABASE_URL') })
  const folder = await mkdtemp(join(tmpdir(), 'plinth-serve-'))
  const wrong = await plinth(['serve', '--port', 'x', '--data-dir', folder], {})
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('PLINTH_PORT must be a whole number') })
  await rm(folder, { recursive: true })
})

const COMPLETED: [string[], string[]][] = [
  [
    ['plinth', 'promo'],
    ['promote', 'promotion'],
  ],
  [['plinth', '--json', 'record', 'pat'], ['patch']],
  [['plinth', 'record', 'list', 'deal', '--fil'], ['--filter']],
  // The value of an option is no command.
  [['plinth', '--base', 'record', 'query', 'deal', '--sn'], ['--snippets']],
]
const hasShell = (shell: string) => spawnSync(shell, ['--version']).status === 0

test.runIf(hasShell('zsh'))('the completion of zsh offers the same', async () => {
  const { out } = await plinth(['completion', 'zsh'], {})
  for (const [words, expected] of COMPLETED) {
    const script = `${out}\nsetopt ksharrays; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
      _plinth; print -l -- "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('zsh', ['-fc', script], { encoding: 'utf8' })
    // zsh itself chooses those that begin with the word.
    const offered = stdout.split('\n').filter((word) => word.startsWith(words.at(-1) ?? ''))
    expect([stderr, offered.sort()]).toEqual(['', expected])
  }
})

test.runIf(hasShell('fish'))('the completion of fish offers the same', async () => {
  const { out } = await plinth(['completion', 'fish'], {})
  for (const [words, expected] of COMPLETED) {
    const script = `${out}\ncomplete -C '${words.join(' ')}'`
    const { stdout, stderr } = spawnSync('fish', ['--private', '-c', script], { encoding: 'utf8' })
    expect([stderr, stdout.trim().split('\n').sort()]).toEqual(['', expected])
  }
})

test.runIf(hasShell('bash'))(
  'the completion of bash offers commands, and the options of the command before the cursor',
  { tags: 'full' },
  async () => {
    const { out } = await plinth(['completion', 'bash'], {})
    const complete = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
        _plinth; printf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n')
    }
    expect(complete('plinth', 'recor')).toEqual(['record-type', 'record'])
    expect(complete('plinth', '--json', 'record', 'pat')).toEqual(['patch'])
    expect(complete('plinth', 'record', 'list', 'deal', '--fil')).toEqual(['--filter'])
    expect(complete('plinth', 'base', 'list', '--filter')).toEqual([''])
    // The shell then offers files.
    expect(complete('plinth', 'export', 'deal', '--output', '')).toEqual([''])
    for (const [words, expected] of COMPLETED) expect(complete(...words).sort()).toEqual(expected)
    expect(await plinth(['completion', 'cmd'], {})).toMatchObject({ code: 2 })
  },
)
