/** `node test/bench/explorer.ts [records]`: the list of a large record type in Chromium, as a person uses it. Medians of five. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { endChildren, endPostgres, startPlinth } from './children.ts'
import { median } from './measure.ts'
import { memoryOf } from './memory.ts'
import { ms } from './moments.ts'
import { type Rest, restOf } from './rest.ts'

const records = Number(process.argv[2] ?? 100_000)
const TIMES = 5
const BATCH = 1000
const PATIENCE_MS = 30_000
const STAGES = ['new', 'open', 'waiting', 'solved'] as const
const PEOPLE = ['ada', 'jonas', 'mara', 'zoe', null] as const
const TYPE = {
  name: 'Ticket',
  display: { title: 'subject' },
  json_schema: {
    type: 'object',
    properties: {
      subject: { type: 'string', maxLength: 200 },
      stage: { enum: STAGES },
      owner: { type: ['string', 'null'] },
      amount: { type: 'integer' },
      due: { type: 'string', format: 'date' },
      note: { type: 'string' },
    },
    required: ['subject', 'stage'],
  },
  indexes: [{ fields: ['data.stage'] }],
}

/** What a person sees, asked at each frame of the page. */
type Sight = {
  /** The grid has this row, and no row in sight is blank. */
  row?: number
  /** The foot says how many there are. */
  count?: string
  /** The first row has this text. */
  first?: string
  /** This button is there. */
  button?: string
}

/** Acts in the page, and counts from then to the frame in which the sight is there. */
async function timeTo(page: Page, sight: Sight, act: () => Promise<unknown> = async () => undefined) {
  const begun = performance.now()
  await act()
  await page.waitForFunction(
    ({ row, count, first, button }: Sight) => {
      const grid = document.querySelector('[role=grid]')
      const has = (selector: string, text: string) =>
        [...document.querySelectorAll(selector)].some((each) => each.textContent?.includes(text))
      return (
        grid?.getAttribute('aria-busy') === 'false' &&
        (row === undefined || document.querySelector(`[data-at="${row}:1"]`) !== null) &&
        (count === undefined || has('.records-foot', count)) &&
        (first === undefined ||
          document.querySelector('[data-at="0:1"]')?.parentElement?.textContent?.includes(first)) &&
        (button === undefined || has('button', button))
      )
    },
    sight,
    { polling: 'raf', timeout: PATIENCE_MS },
  )
  return performance.now() - begun
}

const scrollTo = (page: Page, top: number) =>
  page.evaluate((to) => {
    const grid = document.querySelector('[role=grid]')
    if (grid) grid.scrollTop = to
  }, top)

/** Scrolls a thousand rows, one row a frame: times of the frames, and how long any row was blank. */
const scrolled = (page: Page) =>
  page.evaluate(async () => {
    const grid = document.querySelector('[role=grid]')
    const height = document.querySelector('[role=row][aria-rowindex="2"]')?.clientHeight ?? 36
    const frames: number[] = []
    let [blank, longest, before] = [0, 0, performance.now()]
    for (let row = 0; row < 1000; row++) {
      if (grid) grid.scrollTop += height
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve))
      frames.push(now - before)
      blank = grid?.getAttribute('aria-busy') === 'true' ? blank + now - before : 0
      longest = Math.max(longest, blank)
      before = now
    }
    frames.sort((a, b) => a - b)
    return { p95: frames[Math.floor(frames.length * 0.95)] ?? 0, blank: longest }
  })

async function fill(rest: Rest): Promise<void> {
  await rest('PUT', '/v1/bases/large', {})
  await rest('PUT', '/v1/large/record-types/ticket', TYPE)
  const rowOf = (n: number) => ({
    subject: `Ticket ${n}: the invoice of ${['May', 'June', 'July'][n % 3]} is wrong`,
    stage: STAGES[n % STAGES.length],
    owner: PEOPLE[n % PEOPLE.length],
    amount: (n * 7919) % 250_000,
    due: new Date(Date.UTC(2026, 0, 1 + (n % 365))).toISOString().slice(0, 10),
    note: 'The customer was charged twice and asks for the money. '.repeat(2),
  })
  for (let from = 0; from < records; from += BATCH) {
    const operations = Array.from({ length: Math.min(BATCH, records - from) }, (_, n) => ({
      ...{ type: 'upsert_record', record_type: 'ticket', id: `T-${from + n}`, data: rowOf(from + n) },
    }))
    await rest('POST', '/v1/large/batch', { operations })
  }
  for (;;) {
    const { indexes } = await rest<{ indexes: { status: string }[] }>('GET', '/v1/large/record-types/ticket')
    if (indexes.every(({ status }) => status === 'ready')) return
    await sleep(250)
  }
}

type Place = { browser: Browser; url: string; rest: Rest }

/** A tab that is signed in and has been at another page. */
async function openTab({ browser, url, rest }: Place): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const { code } = await rest<{ code: string }>('POST', '/v1/tokens/self/sign-in-codes')
  await page.goto(`${url}/b/large/agents#code=${code}`)
  await page.waitForFunction(() => sessionStorage.getItem('plinth.token') !== null)
  return page
}

const LIST = '/b/large/t/ticket?filter=%5B%5D'

async function lap(place: Place, turn: number): Promise<Record<string, number>> {
  const page = await openTab(place)
  const begun = performance.now()
  await page.goto(`${place.url}/healthz`)
  const bare = performance.now() - begun
  const all = `of ${records.toLocaleString('en')} `
  const view = await timeTo(page, { row: 0, count: all }, () => page.goto(place.url + LIST))
  const next = await timeTo(page, { row: 150 }, () => scrollTo(page, 36 * 150))
  const { p95, blank } = await scrolled(page)
  const far = await timeTo(page, { row: records - 1 }, () => scrollTo(page, Number.MAX_SAFE_INTEGER))
  const middle = await timeTo(page, { row: records / 2 }, () => scrollTo(page, 36 * (records / 2)))
  await scrollTo(page, 0)
  const write = () => place.rest('PATCH', '/v1/large/records/ticket/T-5', { data: { amount: turn } })
  const live = await timeTo(page, { row: 0, button: 'changed since you opened' }, write)
  const waiting = page.getByRole('button', { name: /^waiting / })
  const some = `of ${Math.floor((records + 1) / STAGES.length).toLocaleString('en')} `
  const filter = await timeTo(page, { row: 0, count: some }, () => waiting.click())
  await timeTo(page, { row: 0, count: all }, () => waiting.click())
  const head = page.getByRole('columnheader').getByRole('button', { name: /^due/i })
  const sort = await timeTo(page, { first: '1 Jan' }, () => head.click())
  const { heap, tab } = await memoryOfTab(page)
  await page.context().close()
  return { bare, view, next, p95, blank, far, middle, live, filter, sort, heap, tab }
}

/** What scripts hold after a collection, and the process of the tab, in MB. */
async function memoryOfTab(page: Page): Promise<{ heap: number; tab: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const browser = await page.context().browser()?.newBrowserCDPSession()
  const largest = browser ? await renderers(browser) : []
  return { heap: usedSize / 2 ** 20, tab: Math.max(0, ...largest) }
}

async function renderers(session: CDPSession): Promise<number[]> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => memoryOf(id, undefined)?.serverMb ?? 0)
}

const MEASURED: readonly [key: string, what: string, most: number, unit: 'ms' | 'MB'][] = [
  ['bare', 'a bare page of the server, `/healthz`', 0, 'ms'],
  ['view', 'first rows, from the address', 1000, 'ms'],
  ['next', 'rows that were not in sight, 150 further down', 100, 'ms'],
  ['p95', '1,000 rows scrolled: 95th percentile of frames', 33, 'ms'],
  ['blank', '1,000 rows scrolled: longest time with a blank row', 200, 'ms'],
  ['far', 'jump to the last row', 500, 'ms'],
  ['middle', 'jump to the middle', 500, 'ms'],
  ['filter', 'filter on an index, by a facet', 200, 'ms'],
  ['sort', 'sort without an index', 400, 'ms'],
  ['live', 'a write of another one is said', 200, 'ms'],
  ['heap', 'heap after all of that', 60, 'MB'],
  ['tab', 'process of the tab, PSS', 0, 'MB'],
]

async function main(dataDir: string): Promise<void> {
  const plinth = await startPlinth(dataDir)
  const rest = restOf(plinth.url, (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim())
  await fill(rest)
  const load = loadavg()[0] ?? 0
  const browser = await openBrowser()
  try {
    const place = { browser, url: plinth.url, rest }
    const laps: Record<string, number>[] = []
    await lap(place, -1)
    for (let turn = 0; turn < TIMES; turn++) laps.push(await lap(place, turn))
    const lines = MEASURED.map(([key, what, most, unit]) => {
      const all = laps.map((each) => each[key] ?? 0)
      const shown = (value: number) => (unit === 'ms' ? ms(value) : `${Math.round(value)} MB`)
      const span = `${shown(Math.min(...all))} to ${shown(Math.max(...all))}`
      return `| ${what} | ${shown(median(all))} | ${span} | ${most > 0 ? shown(most) : ''} |`
    })
    process.stdout.write(
      `${records.toLocaleString('en')} records, ${cpus().length} cores, load ${load.toFixed(1)}, Chromium ${browser.version()}\n\n` +
        `| | Median | Lowest to highest | Most |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`,
    )
  } finally {
    await browser.close()
    await plinth.end()
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'plinth-bench-'))
try {
  await main(dataDir)
} finally {
  await endChildren()
  await endPostgres(dataDir)
  await rm(dataDir, { recursive: true, force: true })
}
