/** The bundle of a checkout: it is served as `npm start` does, and never after a file that it was made of has changed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { caller } from '../support/server.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ADMIN = 'plt_administrator-of-the-bundle'

let place: string
let stop: (() => Promise<unknown>) | undefined
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'plinth-bundle-'))
})
afterAll(async () => {
  await stop?.()
  await rm(place, { recursive: true, force: true })
})

async function finder() {
  const { bundled } = (await import(new URL('../../bin/bundle.mjs', import.meta.url).href)) as {
    bundled(folder?: string): URL | undefined
  }
  return bundled
}

test('a bundle is found until a file that it was made of changes or goes', async () => {
  const bundled = await finder()
  const cache = join(place, 'node_modules/.cache/plinth')
  const [entry, source] = [join(cache, 'bundle-1/cli/main.mjs'), join(place, 'a.ts')]
  await mkdir(dirname(entry), { recursive: true })
  await writeFile(entry, '')
  await writeFile(source, 'one')
  expect(bundled(place)).toBeUndefined()
  const note = async () => {
    const { ctimeMs, size } = await stat(source)
    const files = [['a.ts', ctimeMs, size]]
    await writeFile(join(cache, 'bundle.json'), JSON.stringify({ name: 'bundle-1', files }))
  }
  await note()
  expect(bundled(place)?.pathname).toBe(entry)
  await writeFile(source, 'two')
  expect(bundled(place), 'of the same size').toBeUndefined()
  await note()
  expect(bundled(place)).toBeDefined()
  await rm(source)
  expect(bundled(place)).toBeUndefined()
  await writeFile(source, 'two')
  await note()
  await rm(entry)
  expect(bundled(place), 'without its own files').toBeUndefined()
})

/** Runs `npm start` until it is ready. Node writes the scripts that it ran to `ran`. */
async function npmStart(dataDir: string, ran: string): Promise<{ url: string; child: ChildProcess }> {
  const own = Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL|npm_|NODE_)/.test(name))
  const settings = { PLINTH_PORT: '0', PLINTH_DATA_DIR: dataDir, PLINTH_ADMIN_TOKEN: ADMIN }
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...Object.fromEntries(own), ...settings, PATH: path, NODE_V8_COVERAGE: ran },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk
      const found = /^plinth ready (\S+)$/m.exec(out)?.[1]
      if (found) resolve(found)
    })
    child.once('close', (code) => reject(new Error(`npm start ended with ${code}.\n${out}`)))
  })
  return { url, child }
}

async function scriptsRun(folder: string): Promise<string[]> {
  const reports = await Promise.all(
    (await readdir(folder)).map((each) => readFile(join(folder, each), 'utf8')),
  )
  return reports.flatMap((report) =>
    (JSON.parse(report) as { result: { url: string }[] }).result.map(({ url }) => url),
  )
}

test('`npm start` runs the bundle, which serves each surface with all of its files', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  await promisify(execFile)(process.execPath, [join(ROOT, 'packages/plinth/bundle-checkout.ts')])
  const [dataDir, ran] = [join(place, 'data'), join(place, 'ran')]
  const { url, child } = await npmStart(dataDir, ran)
  const { pid } = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8')) as { pid: number }
  stop = () => {
    stop = undefined
    const ended = once(child, 'close')
    process.kill(pid, 'SIGTERM')
    return ended
  }
  const call = caller(url, ADMIN)
  const put = async (path: string, body: object, status = 201) =>
    expect(await call('PUT', path, body), path).toMatchObject({ status })
  await put('/v1/bases/crm', {})
  const json_schema = { type: 'object', properties: { title: { type: 'string' } } }
  await put('/v1/crm/record-types/deal', { json_schema })
  await put('/v1/crm/records/deal/d1', { data: { title: 'Ångström' } })
  await put('/v1/crm/file-types/note', {})
  for (const n of [1, 2]) {
    const text = Array.from({ length: 2000 }, (_, line) =>
      line === 1000 ? `line of version ${n}` : `line ${line}`,
    ).join('\n')
    const headers = { 'content-type': 'text/plain' }
    const answer = await call('PUT', '/v1/crm/files/note/a.txt', Buffer.from(text), headers)
    expect(answer.status, answer.text).toBe(n === 1 ? 201 : 200)
  }
  const diff = await call('GET', '/v1/crm/files/note/a.txt?diff&from=1&to=2')
  expect(diff.text).toContain('-line of version 1')
  expect(await call('POST', '/graphql/crm', { query: '{ dealRecords { nodes { title } } }' })).toMatchObject({
    body: { data: { dealRecords: { nodes: [{ title: 'Ångström' }] } } },
  })
  const introspection = { query: '{ __schema { types { name fields { name type { name } } } } }' }
  expect(await call('POST', '/graphql/crm', introspection)).toMatchObject({
    body: { data: { __schema: { types: expect.arrayContaining([{ name: 'JSON', fields: null }]) } } },
  })
  expect(await call('POST', '/v1/crm/sql', { query: 'SELECT title FROM deal' })).toMatchObject({
    body: { data: [{ title: 'Ångström' }] },
  })
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect(
    await call('POST', '/mcp/crm', list, { accept: 'application/json, text/event-stream' }),
  ).toMatchObject({ status: 200, text: expect.stringContaining('create_deal') })
  expect((await call('GET', '/s3/crm')).text).toContain('<Error>')
  const pages = ['/', '/docs/', '/graphql', '/guides/operations', '/openapi.json', '/readyz']
  for (const path of [...pages, '/config.schema.json'])
    expect(await call('GET', path, undefined, { accept: 'text/html, */*;q=0.5' }), path).toMatchObject({
      status: 200,
    })

  expect(await stop()).toEqual([0, null])
  const scripts = await scriptsRun(ran)
  expect(scripts.filter((script) => script.includes('/.cache/plinth/bundle-')).length).toBeGreaterThan(10)
  const threads = /\/(introspect|api-reference|compare-texts)\.ts$/
  expect(scripts.filter((script) => threads.test(script)).length).toBeGreaterThan(0)
  expect(scripts.filter((script) => /\/src\/(main|server|cli\/main)\.ts$/.test(script))).toEqual([])
})
