import { type Draw, wire } from './load.ts'
import { BASE, content, QUERIED, STATES, TYPE } from './subject.ts'

/** A kind of request, to Plinth and to the floor. */
export type Work = {
  /** Its name in `--only` and in the baseline. */
  key: string
  name: string
  plinth: Draw
  floor: Draw
  /** What Plinth's answer must hold for the work to have been done. */
  proof: RegExp
  /** Requests before the first turn: fewer, and the compiler of the process is measured. */
  warm: number
  /** Requests of a turn. */
  requests: number
  /** The most processor time that Plinth may take, as a multiple of the floor's. */
  must?: number
}

type Setting = { token: string; records: number }

const PROTOCOL = 'io.modelcontextprotocol'
const META = `,"_meta":{"${PROTOCOL}/protocolVersion":"2026-07-28","${PROTOCOL}/clientInfo":{"name":"bench","version":"1"},"${PROTOCOL}/clientCapabilities":{}}`

const RECORD = `query Get($id: String!) {
  record(base: "${BASE}", recordType: "${TYPE}", id: $id) { id externalSource externalId data version status valid createdAt updatedAt } }`
const TYPED = `query Get($id: ID!) {
  ${TYPE}(id: $id) { id title status amount currency due priority tags owner { name email } _version _createdAt _updatedAt } }`

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
  const ask = (path: string, query: string, of: string) =>
    wire('POST', path, bearer, JSON.stringify({ query, variables: { id: of } }))
  // The offset is beyond what the single writes reach, so that each upsert changes its record.
  const upserts = (n: number) =>
    Array.from({ length: BATCH }, (_, i) => {
      const operation = `"type":"upsert_record","record_type":"${TYPE}"`
      return `{${operation},"id":"${id(n * BATCH + i)}","data":${content(n * BATCH + i + 100 * records)}}`
    }).join(',')

  return [
    {
      key: 'get',
      name: 'GET one record',
      plinth: get(list, bearer),
      floor: get(floorList, ''),
      proof: /^\{"id":"r\d+".*"version":1\b/,
      warm: 20_000,
      requests: 5_000,
      must: 0.9,
    },
    {
      key: 'graphql',
      name: 'GraphQL, one record at /graphql',
      plinth: counting((n) => ask('/graphql', RECORD, id(n))),
      floor: get(floorList, ''),
      proof: /^\{"data":\{"record":\{"id":"r\d+".*"title":/,
      warm: 20_000,
      requests: 3_000,
      must: 1.4,
    },
    {
      key: 'graphql-base',
      name: 'GraphQL, one record at /graphql/{base}',
      plinth: counting((n) => ask(`/graphql/${BASE}`, TYPED, id(n))),
      floor: get(floorList, ''),
      proof: /^\{"data":\{"task":\{"id":"r\d+".*"title":/,
      warm: 20_000,
      requests: 3_000,
      must: 1.4,
    },
    {
      key: 'put',
      name: 'PUT one record',
      plinth: put(list, bearer),
      floor: put(floorList, ''),
      proof: /"version":2\b.*"operation":"updated"/,
      warm: 20_000,
      requests: 3_000,
      must: 1.0,
    },
    {
      key: 'create',
      name: 'POST one record',
      plinth: post(list, bearer),
      floor: post(floorList, ''),
      proof: /"operation":"created"/,
      warm: 15_000,
      requests: 3_000,
      must: 1.1,
    },
    {
      key: 'batch',
      name: `batch of ${BATCH} upserts`,
      plinth: counting((n) => wire('POST', `/v1/${BASE}/batch`, bearer, `{"operations":[${upserts(n)}]}`)),
      floor: counting((n) => wire('POST', `${floorList}/many`, '', `{"records":[${upserts(n)}]}`)),
      proof:
        /^\{"data":\[\{"index":0,"type":"upsert_record","operation":"updated",.*"meta":\{"count":100\}\}$/,
      warm: 300,
      requests: 60,
      must: 1.7,
    },
    {
      key: 'newest',
      name: `list the 50 newest of ${records.toLocaleString('en')}`,
      plinth: () => wire('GET', `${list}?limit=50`, bearer),
      floor: () => wire('GET', floorList, ''),
      proof: /"meta":\{"has_more":true,"limit":50/,
      warm: 6_000,
      requests: 1_000,
    },
    {
      key: 'list',
      name: `list 50 of ${records.toLocaleString('en')}, filter and sort on a declared index`,
      plinth: counting((n) => wire('GET', `${queried}?${byStatus(n)}&sort=-data.due&limit=50`, bearer)),
      floor: counting((n) => wire('GET', `/tickets/${BASE}/${QUERIED}/${STATES[n % STATES.length]}`, '')),
      proof: /"meta":\{"has_more":true,"limit":50/,
      warm: 6_000,
      requests: 1_000,
      must: 1.1,
    },
    {
      key: 'aggregate',
      name: `aggregate count and sum by one field of ${records.toLocaleString('en')}`,
      plinth: () => wire('POST', `${queried}/aggregate`, bearer, SUMS),
      floor: () => wire('GET', `/sums/${BASE}/${QUERIED}`, ''),
      proof: /^\{"data":\[\{"data.status":"done","count":\d+,"sum_amount":/,
      warm: 15,
      requests: 10,
      must: 1.6,
    },
    {
      key: 'mcp-2025',
      name: `MCP create_${TYPE}, protocol 2025-11-25`,
      plinth: create(`${bearer}mcp-protocol-version: 2025-11-25\r\n`, ''),
      floor: put(floorList, ''),
      proof: /"structuredContent":.*"operation":"created"/,
      warm: 12_000,
      requests: 2_000,
      must: 1.25,
    },
    {
      key: 'mcp-2026',
      name: `MCP create_${TYPE}, protocol 2026-07-28`,
      plinth: create(
        `${bearer}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: create_${TYPE}\r\n`,
        META,
      ),
      floor: put(floorList, ''),
      proof: /"structuredContent":.*"operation":"created"/,
      warm: 12_000,
      requests: 2_000,
      must: 1.25,
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
