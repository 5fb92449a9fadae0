/** What tests of change-sets send and read: generated operations on linked records, and reads that tell a difference. */
import fc from 'fast-check'
import { succeed } from './answers.ts'
import type { Call } from './caller.ts'

const DEAL = {
  json_schema: {
    type: 'object',
    properties: {
      stage: { type: 'string' },
      amount: { type: 'number' },
      code: { type: 'string' },
      note: { type: 'string' },
    },
  },
  indexes: [
    { fields: ['data.stage', { field: 'data.amount', direction: 'desc' }] },
    { fields: ['data.code'], unique: true },
    { fields: ['data.note'], type: 'text' },
  ],
}
const STAGES = ['open', 'won', 'lost']
const WORDS = ['red apple', 'green pear', 'blue plum', 'grey fig']

/** Fills a base that has no types yet: two record types, three relationship types, records and links. */
export async function fillLinked(call: Call, base: string): Promise<void> {
  succeed(await call('PUT', `/v1/${base}/record-types/deal`, DEAL), 201)
  succeed(await call('PUT', `/v1/${base}/record-types/person`, {}), 201)
  const links = { source_record_types: ['deal'], target_record_types: ['deal'] }
  const ends = { source_record_types: ['deal'], target_record_types: ['person'] }
  const types = {
    part: { ...links, cardinality: 'one_to_many', on_delete: 'cascade' },
    near: { ...links, cardinality: 'many_to_many' },
    owner: { ...ends, cardinality: 'many_to_one', on_delete: 'restrict' },
  }
  for (const [id, body] of Object.entries(types))
    succeed(await call('PUT', `/v1/${base}/relationship-types/${id}`, body), 201)
  for (let n = 0; n < 6; n++) {
    const data = { stage: STAGES[n % 3], amount: n, code: `c${n}`, note: WORDS[n % 4] }
    const pair = n % 2 ? { external_id: `e${n}`, external_source: 'erp' } : {}
    succeed(await call('PUT', `/v1/${base}/records/deal/d${n}`, { data, ...pair }), 201)
    if (n < 3) succeed(await call('PUT', `/v1/${base}/records/person/p${n}`, { data: { n } }), 201)
  }
  for (const [type, source, target] of [
    ['part', 'deal/d0', 'deal/d1'],
    ['part', 'deal/d1', 'deal/d2'],
    ['near', 'deal/d3', 'deal/d0'],
    ['owner', 'deal/d4', 'person/p0'],
  ] as const)
    succeed(await call('POST', `/v1/${base}/relationships`, link(type, source, target)), 201)
}

function link(relType: string, source: string, target: string) {
  const [sourceType, sourceId] = source.split('/')
  const [targetType, targetId] = target.split('/')
  return {
    rel_type: relType,
    ...{
      source_record_type: sourceType,
      source_id: sourceId,
      target_record_type: targetType,
      target_id: targetId,
    },
  }
}

const id = fc.integer({ min: 0, max: 8 }).map((n) => `d${n}`)
const data = fc.record(
  {
    stage: fc.constantFrom(...STAGES),
    amount: fc.integer({ min: 0, max: 9 }),
    code: fc.integer({ min: 0, max: 12 }).map((n) => `c${n}`),
    note: fc.constantFrom(...WORDS),
  },
  { requiredKeys: ['stage'] },
)
const pair = fc.option(
  fc.integer({ min: 0, max: 8 }).map((n) => ({ external_id: `e${n}`, external_source: 'erp' })),
  { nil: undefined, freq: 4 },
)
const linkOf = fc.oneof(
  fc
    .tuple(fc.constantFrom('part', 'near'), id, id)
    .map(([type, a, b]) => link(type, `deal/${a}`, `deal/${b}`)),
  fc.tuple(id, fc.integer({ min: 0, max: 3 })).map(([a, b]) => link('owner', `deal/${a}`, `person/p${b}`)),
)
export type Sent = [method: string, path: string, body?: object, headers?: Record<string, string>]
const recordOperation = fc.oneof(
  fc
    .tuple(id, data, pair)
    .map(([d, value, own]) => ({ type: 'upsert_record', record_type: 'deal', id: d, data: value, ...own })),
  fc.tuple(id, data).map(([d, value]) => ({ type: 'patch_record', record_type: 'deal', id: d, data: value })),
  id.map((d) => ({ type: 'delete_record', record_type: 'deal', id: d })),
)
const batchOperation = fc.oneof(
  { arbitrary: recordOperation, weight: 3 },
  { arbitrary: linkOf.map((each) => ({ type: 'upsert_relationship', ...each, data: {} })), weight: 1 },
)
export const operation: fc.Arbitrary<Sent> = fc.oneof(
  fc
    .tuple(id, data, pair)
    .map(([d, value, own]): Sent => ['PUT', `records/deal/${d}`, { data: value, ...own }]),
  fc.tuple(id, data).map(([d, value]): Sent => ['POST', 'records/deal', { id: d, data: value }]),
  fc.tuple(id, data).map(([d, value]): Sent => ['PATCH', `records/deal/${d}`, { data: value }]),
  fc
    .tuple(id, data, fc.integer({ min: 1, max: 3 }))
    .map(
      ([d, value, version]): Sent => [
        'PUT',
        `records/deal/${d}`,
        { data: value },
        { 'if-match': `"${version}"` },
      ],
    ),
  id.map((d): Sent => ['DELETE', `records/deal/${d}`]),
  fc.integer({ min: 0, max: 2 }).map((n): Sent => ['DELETE', `records/person/p${n}`]),
  fc
    .tuple(id, fc.constantFrom('cancel', 'cancel', 'restore'))
    .map(([d, act]): Sent => ['POST', `records/deal/${d}/${act}`]),
  linkOf.map((each): Sent => ['POST', 'relationships', each]),
  linkOf.map(
    ({ rel_type, source_id, target_id }): Sent => [
      ...(['POST', 'sql/execute'] as const),
      {
        statements: `DELETE FROM relationships WHERE rel_type = '${rel_type}' AND (source_id = '${source_id}' OR target_id = '${target_id}')`,
      },
    ],
  ),
  fc.tuple(id, fc.constantFrom(...STAGES)).map(
    ([d, stage]): Sent => [
      ...(['POST', 'sql/execute'] as const),
      {
        statements: `UPDATE deal SET stage = '${stage}' WHERE id >= '${d}';
          DELETE FROM deal WHERE id = '${d}' AND amount > 4; SELECT id, stage, amount FROM deal ORDER BY id`,
      },
    ],
  ),
  fc
    .array(batchOperation, { minLength: 1, maxLength: 5 })
    .map((operations): Sent => ['POST', 'batch', { operations }]),
)

/** Reads of all kinds that tell a difference of state. */
const by = (...fields: string[]) =>
  fields.map((field) =>
    field.startsWith('-') ? { field: field.slice(1), direction: 'desc' } : { field, direction: 'asc' },
  )
export const READS: Sent[] = [
  ['POST', 'records/deal/query', { sort: by('id'), include_total: true, expand: ['owner', '~part'] }],
  [
    ...(['POST', 'records/deal/query'] as const),
    {
      sort: by('data.stage', '-data.amount', 'id'),
      filter: { field: 'data.stage', op: 'in', value: ['open', 'won'] },
    },
  ],
  [
    ...(['POST', 'records/deal/query'] as const),
    { filter: { field: 'data.code', op: 'gte', value: 'c3' }, sort: by('-data.code', 'id'), limit: 3 },
  ],
  [
    'POST',
    'records/deal/query',
    { filter: { field: 'data.note', op: 'search', value: 'apple' }, sort: by('id') },
  ],
  [
    'POST',
    'records/deal/query',
    { filter: { field: 'status', op: 'eq', value: 'cancelled' }, sort: by('id') },
  ],
  [
    'POST',
    'records/deal/aggregate',
    { group_by: ['data.stage'], aggregations: [{ fn: 'count' }, { fn: 'sum', field: 'data.amount' }] },
  ],
  ['GET', 'records/deal/d1'],
  ['GET', 'records/deal/d0/related?direction=both&depth=3'],
  ['GET', 'relationships?limit=200'],
  ['POST', 'sql', { query: 'SELECT id, stage, amount, code, status, version FROM deal ORDER BY id' }],
  [
    ...(['POST', 'sql'] as const),
    {
      query: `SELECT r.rel_type, r.source_id, d.stage, count(*) AS n FROM relationships r JOIN deal d ON d.id = r.target_id
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    },
  ],
]

/** Leaves out what no two writes have in common. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const isLink = 'rel_type' in value || ('type' in value && value.type === 'upsert_relationship')
  // Of equally short ways to a record, each base has one.
  const isFar = 'depth' in value && Number(value.depth) > 1
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, each]) =>
          !/^(created_at|updated_at|cancelled_at|request_id|next_cursor|change_set)$/.test(name) &&
          !(isLink && name === 'id') &&
          !(isFar && name === 'relationship') &&
          // A slow machine makes any list slow.
          !(name === 'hint' && String(each).startsWith('This list took')),
      )
      // The way to a linked record names links by their ids.
      .map(([name, each]) => [name, name === 'path' && Array.isArray(each) ? each.length : comparable(each)]),
  )
}

export const sorted = (body: unknown): unknown => {
  const { data } = body as { data?: unknown }
  return Array.isArray(data)
    ? { ...(body as object), data: data.map((each) => JSON.stringify(each)).sort() }
    : body
}
