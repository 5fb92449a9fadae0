/** What is felt once rather than in numbers a second: single moments, one request at a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { endPostgres, startPlinth } from './children.ts'
import { openLine, wire } from './load.ts'
import { median } from './measure.ts'
import type { Rest } from './rest.ts'

export type Moment = {
  name: string
  value: string
  note: string
  /** What it is, and the most that it may be. */
  must?: { is: number; most: number }
}
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

const STARTS = 3
/** A warm start has the embedded database to start too. */
const WARM_START_MS = 1200
const IMPORTED = 100_000
const BATCH = 1000
const NEW_TYPES = 30
const LISTS = 50
const MANY_TYPES = 150
const FEW_TYPES = 10

/** From the start of the process to its ready line, on a new data directory and on the same one again. */
export async function startTimes(newDir: () => Promise<string>): Promise<Moment[]> {
  const empty: number[] = []
  const warm: number[] = []
  for (let n = 0; n < STARTS; n++) {
    const dataDir = await newDir()
    for (const times of [empty, warm]) {
      const child = await startPlinth(dataDir)
      times.push(child.readyMs)
      await child.end()
      await endPostgres(dataDir)
    }
  }
  const note = `to the ready line, median of ${STARTS}`
  return [
    { name: 'start, empty data directory', value: ms(median(empty)), note },
    {
      name: 'start, warm',
      value: ms(median(warm)),
      note,
      must: { is: median(warm), most: WARM_START_MS },
    },
  ]
}

/** A type that was not there, a record of it, and the record read back. */
export async function newTypeTime(rest: Rest): Promise<Moment> {
  const times: number[] = []
  await rest('PUT', '/v1/bases/types', {})
  for (let n = 0; n < NEW_TYPES; n++) {
    const begun = performance.now()
    await rest('PUT', `/v1/types/record-types/t${n}`, { json_schema: smallSchema(n) })
    await rest('PUT', `/v1/types/records/t${n}/one`, { data: { name: 'a', size: n } })
    await rest('GET', `/v1/types/records/t${n}/one`)
    times.push(performance.now() - begun)
  }
  return {
    name: 'new record type to its first record read back',
    value: ms(median(times)),
    note: `three requests, median of ${NEW_TYPES}`,
  }
}

/** Records that come in batches of the most there may be, two requests at a time. */
export async function importTime(rest: Rest): Promise<Moment> {
  const type = { json_schema: smallSchema(0) }
  await rest('PUT', '/v1/bases/import', {})
  await rest('PUT', '/v1/import/record-types/t', type)
  let next = 0
  const send = async () => {
    for (let batch = next++; batch < IMPORTED / BATCH; batch = next++) {
      const operations = Array.from({ length: BATCH }, (_, n) => ({
        type: 'upsert_record',
        record_type: 't',
        id: `r${batch * BATCH + n}`,
        data: { name: `Record ${n} of ${batch}`, size: n, state: 'new' },
      }))
      await rest('POST', '/v1/import/batch', { operations })
    }
  }
  const begun = performance.now()
  await Promise.all([send(), send()])
  const seconds = (performance.now() - begun) / 1000
  return {
    name: `import of ${IMPORTED.toLocaleString('en')} records`,
    value: `${Math.round(IMPORTED / seconds).toLocaleString('en')} records/s`,
    note: `batches of ${BATCH.toLocaleString('en')} upserts, two at a time`,
  }
}

/** `tools/list` with more tools than a client is shown, and with as many as it is. */
export async function toolsListTimes(rest: Rest, url: string, token: string): Promise<Moment[]> {
  return [
    await toolsList(rest, url, token, 'many', MANY_TYPES),
    await toolsList(rest, url, token, 'few', FEW_TYPES),
  ]
}

async function toolsList(
  rest: Rest,
  url: string,
  token: string,
  base: string,
  types: number,
): Promise<Moment> {
  await rest('PUT', `/v1/bases/${base}`, {})
  for (let n = 0; n < types; n++)
    await rest('PUT', `/v1/${base}/record-types/t${n}`, { json_schema: smallSchema(n) })
  const headers = `authorization: Bearer ${token}\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n`
  const request = wire('POST', `/mcp/${base}`, headers, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
  const line = await openLine(url)
  try {
    const times: number[] = []
    let listed = 0
    for (let n = 0; n <= LISTS; n++) {
      const begun = performance.now()
      const { body } = await line.ask(request, true)
      times.push(performance.now() - begun)
      listed = [...body.matchAll(/"name":"(?:create|update)_t\d+"/g)].length
      await sleep(5)
    }
    const [first = 0, ...later] = times
    const hidden = listed === 0 ? `: over what a client is shown, so callable but not listed` : ''
    return {
      name: `tools/list, ${types} record types`,
      value: ms(median(later)),
      note: `${listed} of their ${types * 2} tools listed${hidden}; the first answer took ${ms(first)}`,
    }
  } finally {
    line.close()
  }
}

const smallSchema = (n: number) => ({
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', description: `What number ${n} is called` },
    size: { type: 'integer', minimum: 0 },
    state: { enum: ['new', 'old'] },
  },
})
