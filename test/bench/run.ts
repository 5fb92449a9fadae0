/** `npm run bench`: Plinth against the floor, in one run on one PostgreSQL. The result is on standard output. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCluster } from '../../src/postgres/cluster.ts'
import { fallen, updateBaseline } from './baseline.ts'
import { endChildren, endPostgres, postmasterOf, startFloor, startPlinth } from './children.ts'
import { load } from './load.ts'
import { type Measured, measure } from './measure.ts'
import { memoryOf } from './memory.ts'
import { importTime, type Moment, newTypeTime, startTimes, toolsListTimes } from './moments.ts'
import { readOptions } from './options.ts'
import { queryMoments, untilReady } from './queries.ts'
import { report, writePage } from './report.ts'
import { restOf } from './rest.ts'
import { BASE, fill, QUERIED, QUERIED_FEW, QUERIED_TYPE, SCHEMA, settle, TYPE } from './subject.ts'
import { type Work, worksOf } from './works.ts'

const options = readOptions(process.argv.slice(2))
const quiet = { info: () => {}, warn: () => {} }
const say = (text: string) => process.stderr.write(`${text}\n`)
const wanted = (name: string) => options.only.test(name)
const dirs: string[] = []

async function main(): Promise<void> {
  const [loadBefore = 0] = loadavg()
  const results: Measured[] = []
  const moments: Moment[] = []
  if (wanted('start')) {
    say('start …')
    moments.push(...(await startTimes(scratchDir)))
  }

  say(`filling ${options.records} records …`)
  const dataDir = await scratchDir()
  const plinth = await startPlinth(dataDir, options.profile)
  const admin = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
  const rest = restOf(plinth.url, admin)
  await rest('PUT', `/v1/bases/${BASE}`, {})
  await rest('PUT', `/v1/${BASE}/record-types/${TYPE}`, { json_schema: SCHEMA })
  const queried = [QUERIED, QUERIED_FEW]
  for (const type of queried)
    await rest('PUT', `/v1/${BASE}/record-types/${type}`, { json_schema: QUERIED_TYPE.json_schema })
  const { token } = await rest<{ token: string }>('POST', '/v1/tokens', {
    name: 'bench',
    grants: [{ base: BASE, record_type: '*', environment: '*', permission: 'write' }],
  })
  // Joins the PostgreSQL that the server has started; to stop it stays with the server.
  const { url: databaseUrl } = await openCluster({ dataDir, log: quiet })
  const database = await fill(databaseUrl, options.records)
  for (const type of queried) await rest('PUT', `/v1/${BASE}/record-types/${type}`, QUERIED_TYPE)
  for (const type of queried) await untilReady(rest, type)
  await settle(databaseUrl)
  const floor = await startFloor(databaseUrl, options.profile)

  const servers = { floor, plinth, postmaster: postmasterOf(dataDir) }
  const works = worksOf({ token, records: options.records })
  for (const work of works.filter(({ name }) => wanted(name))) {
    const measured = await measure(work, servers, options)
    say(`${work.name}: ${measured.ratio.toFixed(2)} of the floor`)
    results.push(measured)
  }
  await floor.end()
  if (wanted('queries'))
    moments.push(...(await queryMoments(rest, { url: plinth.url, token, records: options.records })))
  if (wanted('new record type')) moments.push(await newTypeTime(rest))
  if (wanted('import')) moments.push(await importTime(rest))
  if (wanted('tools/list')) moments.push(...(await toolsListTimes(rest, plinth.url, admin)))
  if (wanted('memory')) moments.push(...(await memoryUnderLoad(works, plinth, dataDir)))
  await plinth.end()

  const text = report({ options, results, moments, database, loadBefore })
  process.stdout.write(`${text}\n`)
  if (options.write) writePage(text)
  if (options.update) updateBaseline(results)
  else for (const line of fallen(results)) fail(line)
}

/** Reads and writes at once, and looks in the middle of it. */
async function memoryUnderLoad(
  works: readonly Work[],
  plinth: { pid: number; url: string },
  dataDir: string,
) {
  say('memory …')
  const [get, put] = works
  if (!get || !put) return []
  const half = Math.ceil(options.connections / 2)
  const seconds = options.seconds * 2
  const running = Promise.all([get, put].map((work) => load(plinth.url, work.plinth, half, seconds)))
  await new Promise((resolve) => setTimeout(resolve, seconds * 900))
  const memory = memoryOf(plinth.pid, postmasterOf(dataDir))
  await running
  if (!memory) return []
  const { serverMb, treeMb, unit } = memory
  const note = `${unit}, half reads and half writes at ${half * 2} connections`
  return [
    { name: 'memory of the server process', value: `${Math.round(serverMb)} MB`, note },
    { name: 'memory of server and PostgreSQL', value: `${Math.round(treeMb)} MB`, note },
  ]
}

async function scratchDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'plinth-bench-'))
  dirs.push(dir)
  return dir
}

function fail(line: string): void {
  say(line)
  process.exitCode = 1
}

/** Leaves nothing behind: no process, no PostgreSQL, no directory. */
async function clear(): Promise<void> {
  await endChildren()
  for (const dir of dirs.splice(0)) {
    await endPostgres(dir)
    await rm(dir, { recursive: true, force: true })
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void clear().finally(() => process.exit(1)))
try {
  await main()
} catch (error) {
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
} finally {
  await clear()
}
