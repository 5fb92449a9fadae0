import { type Draw, wire } from './load.ts'
import { BASE, content, QUERIED, STATES, TYPE } from './subject.ts'

/** A kind of request, to Plinth and to the floor. */
export type Work = {
  name: string
  plinth: Draw
  floor: Draw
  /** What Plinth's answer must hold for the work to have been done. */
  proof: RegExp
}

type Setting = { token: string; records: number }

const PROTOCOL = 'io.modelcontextprotocol'
const META = `,"_meta":{"${PROTOCOL}/protocolVersion":"2026-07-28","${PROTOCOL}/clientInfo":{"name":"bench","version":"1"},"${PROTOCOL}/clientCapabilities":{}}`

/** Operations of a batch. */
const BATCH = 100

/** The works. Each draws its ids one after another over all records, so that no two requests of a moment meet. */
export function worksOf({ token, records }: Setting): Work[] {
  const bearer = `authorization: Bearer ${token}\r\n`
  const list = `/v1/${BASE}/records/${TYPE}`
  const floorList = `/records/${BASE}/${TYPE}`
  const queried = `/v1/${BASE}/records/${QUERIED}`
  const put = (path: string, headers: string): Draw =>
    counting((n) => wire('PUT', `${path}/${id(n)}`, headers, `{"data":${content(n + records)}}`))
  const post = (path: string, headers: string): Draw =>
    counting((n) => wire('POST', path, headers, `{"data":${content(n)}}`))
  const get = (path: string, headers: string): Draw =>
    counting((n) => wire('GET', `${path}/${id(n)}`, headers))
  const id = (n: number) => `r${((n * 7919) % records) + 1}`
  // The offset is beyond what the single writes reach, so that each upsert changes its record.
  const upserts = (n: number) =>
    Array.from({ length: BATCH }, (_, i) => {
      const operation = `"type":"upsert_record","record_type":"${TYPE}"`
      return `{${operation},"id":"${id(n * BATCH + i)}","data":${content(n * BATCH + i + 100 * records)}}`
    }).join(',')

  return [
    {
      name: 'GET one record',
      plinth: get(list, bearer),
      floor: get(floorList, ''),
      proof: /^\{"id":"r\d+".*"version":1\b/,
    },
    {
      name: 'PUT one record',
      plinth: put(list, bearer),
      floor: put(floorList, ''),
      proof: /"version":2\b.*"operation":"updated"/,
    },
    {
      name: 'POST one record',
      plinth: post(list, bearer),
      floor: post(floorList, ''),
      proof: /"operation":"created"/,
    },
    {
      name: `batch of ${BATCH} upserts`,
      plinth: counting((n) => wire('POST', `/v1/${BASE}/batch`, bearer, `{"operations":[${upserts(n)}]}`)),
      floor: counting((n) => wire('POST', `${floorList}/many`, '', `{"records":[${upserts(n)}]}`)),
      proof:
        /^\{"data":\[\{"index":0,"type":"upsert_record","operation":"updated",.*"meta":\{"count":100\}\}$/,
    },
    {
      name: `list the 50 newest of ${records.toLocaleString('en')}`,
      plinth: () => wire('GET', `${list}?limit=50`, bearer),
      floor: () => wire('GET', floorList, ''),
      proof: /"meta":\{"has_more":true,"limit":50/,
    },
    {
      name: `list 50 of ${records.toLocaleString('en')}, filter and sort on a declared index`,
      plinth: counting((n) => wire('GET', `${queried}?${byStatus(n)}&sort=-data.due&limit=50`, bearer)),
      floor: counting((n) => wire('GET', `/tickets/${BASE}/${QUERIED}/${STATES[n % STATES.length]}`, '')),
      proof: /"meta":\{"has_more":true,"limit":50/,
    },
    {
      name: `aggregate count and sum by one field of ${records.toLocaleString('en')}`,
      plinth: () => wire('POST', `${queried}/aggregate`, bearer, SUMS),
      floor: () => wire('GET', `/sums/${BASE}/${QUERIED}`, ''),
      proof: /^\{"data":\[\{"data.status":"done","count":\d+,"sum_amount":/,
    },
    {
      name: `MCP create_${TYPE}, protocol 2025-11-25`,
      plinth: create(`${bearer}mcp-protocol-version: 2025-11-25\r\n`, ''),
      floor: post(floorList, ''),
      proof: /"structuredContent":.*"operation":"created"/,
    },
    {
      name: `MCP create_${TYPE}, protocol 2026-07-28`,
      plinth: create(
        `${bearer}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: create_${TYPE}\r\n`,
        META,
      ),
      floor: post(floorList, ''),
      proof: /"structuredContent":.*"operation":"created"/,
    },
  ]
}

/** A filter on one of the statuses in turn. */
export const byStatus = (n: number): string =>
  `filter=${encodeURIComponent(JSON.stringify({ field: 'data.status', op: 'eq', value: STATES[n % STATES.length] }))}`

const SUMS = '{"aggregations":[{"fn":"count"},{"fn":"sum","field":"data.amount"}],"group_by":["data.status"]}'

const create = (headers: string, meta: string): Draw =>
  counting((n) =>
    wire(
      'POST',
      `/mcp/${BASE}`,
      `accept: application/json, text/event-stream\r\n${headers}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_${TYPE}","arguments":${content(n)}${meta}}}`,
    ),
  )

function counting(request: (n: number) => string): Draw {
  let n = 0
  return () => request(n++)
}
