/** `npm run bench`: Plinth against the floor, in one run on one PostgreSQL. The result is on standard output. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCluster } from '../../src/postgres/cluster.ts'
import { changeSetMoments } from './change-sets.ts'
import { type Child, endChildren, endPostgres, postmasterOf, startFloor, startPlinth } from './children.ts'
import { foreignShare, type Measured, measure } from './measure.ts'
import { memoryMoments } from './memory.ts'
import { importTime, type Moment, newTypeTime, startTimes, toolsListTimes } from './moments.ts'
import { readOptions } from './options.ts'
import { queryMoments, untilReady } from './queries.ts'
import { percent, report, writePage } from './report.ts'
import { restOf } from './rest.ts'
import { openCounter, preloadCounter } from './statements.ts'
import { BASE, fill, QUERIED, QUERIED_FEW, QUERIED_TYPE, settle, TASK_TYPE, TYPE } from './subject.ts'
import { failures, MOST_FOREIGN, updateBaseline } from './verdict.ts'
import { worksOf } from './works.ts'

const options = readOptions(process.argv.slice(2))
const quiet = { info: () => {}, warn: () => {} }
const say = (text: string) => process.stderr.write(`${text}\n`)
const wanted = options.wants
const REST_MS = 30_000
const NO_VERDICT = 2
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
  const { plinth, databaseUrl } = await openPlinth(dataDir)
  const memory = (at: string, most: { serverMb?: number; treeMb?: number }) =>
    wanted('memory') ? memoryMoments(at, plinth.pid, postmasterOf(dataDir), most) : []
  moments.push(...memory('at the ready line', {}))
  const admin = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
  const rest = restOf(plinth.url, admin)
  await rest('PUT', `/v1/bases/${BASE}`, {})
  await rest('PUT', `/v1/${BASE}/record-types/${TYPE}`, { json_schema: TASK_TYPE.json_schema })
  const queried = [QUERIED, QUERIED_FEW]
  for (const type of queried)
    await rest('PUT', `/v1/${BASE}/record-types/${type}`, { json_schema: QUERIED_TYPE.json_schema })
  const { token } = await rest<{ token: string }>('POST', '/v1/tokens', {
    name: 'bench',
    grants: [{ base: BASE, record_type: '*', environment: '*', permission: 'write' }],
  })
  const database = await fill(databaseUrl, options.records)
  const indexed = [...queried.map((type) => [type, QUERIED_TYPE] as const), [TYPE, TASK_TYPE] as const]
  for (const [type, body] of indexed) await rest('PUT', `/v1/${BASE}/record-types/${type}`, body)
  for (const [type] of indexed) await untilReady(rest, type)
  await settle(databaseUrl)
  const floor = await startFloor(databaseUrl, options.profile)
  const counter = await openCounter(databaseUrl)

  const servers = { floor, plinth, counter, postmaster: postmasterOf(dataDir) }
  const works = worksOf({ token, records: options.records })
  for (const work of works.filter(({ key }) => wanted(key))) {
    const measured = await measure(work, servers, { ...options, cores: cpus().length })
    say(`${work.name}: ${measured.ratio.toFixed(2)} of the floor`)
    results.push(measured)
  }
  await floor.end()
  await counter.end()
  if (wanted('queries'))
    moments.push(...(await queryMoments(rest, { url: plinth.url, token, records: options.records })))
  if (wanted('types')) moments.push(await newTypeTime(rest))
  if (wanted('import')) moments.push(await importTime(rest))
  if (wanted('tools')) moments.push(...(await toolsListTimes(rest, plinth.url, admin)))
  moments.push(...memory('after all works', { serverMb: 280, treeMb: 450 }))
  if (wanted('memory')) await sleep(REST_MS)
  moments.push(...memory(`after ${REST_MS / 1000} s of rest`, { serverMb: 200 }))
  if (wanted('change-sets')) {
    const place = { url: plinth.url, token, records: options.records, databaseUrl }
    moments.push(...(await changeSetMoments(rest, place)))
  }
  await plinth.end()

  const text = report({ options, results, moments, database, loadBefore })
  process.stdout.write(`${text}\n`)
  if (options.write) writePage(text)
  if (options.update) updateBaseline(results)
  else judge(results, moments)
}

/** Says what fails, or why nothing can be said. */
function judge(results: readonly Measured[], moments: readonly Moment[]): void {
  const foreign = results.length === 0 ? 0 : foreignShare(results)
  if (foreign > MOST_FOREIGN) {
    say(
      `No verdict: other processes took ${percent(foreign)} of the machine, and may take ${percent(MOST_FOREIGN)}.`,
    )
    process.exitCode = NO_VERDICT
    return
  }
  for (const line of failures(results, moments)) fail(line)
}

/** Plinth on an embedded PostgreSQL that counts its statements, started a second time as on any other day. */
async function openPlinth(dataDir: string): Promise<{ plinth: Child; databaseUrl: string }> {
  const first = await startPlinth(dataDir)
  // Joins the PostgreSQL that the server has started; to stop it stays with the server.
  await preloadCounter((await openCluster({ dataDir, log: quiet })).url)
  await first.end()
  await endPostgres(dataDir)
  const plinth = await startPlinth(dataDir, options.profile)
  return { plinth, databaseUrl: (await openCluster({ dataDir, log: quiet })).url }
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
