/** Generated requests that try to read data outside the grants. */
import fc from 'fast-check'
import type { Json } from '../support/paths.ts'

export type Asked = { base: string; type: string; filter?: Json; sort?: Json; fields?: Json; more?: object }

/** SQL, JSON paths, templates, other types and bases, for every string in a request. */
const HOSTILE = [
  ...[
    "' OR 1=1 --",
    '") OR true --',
    "data->>'note'",
    'data.note) FROM plinth.token --',
    '$1',
    '$$',
    '\\',
    '%',
    '_',
  ],
  ...[
    'sibling',
    'other',
    'other/granted',
    '../sibling',
    'crm/sibling',
    'plinth.token',
    'hash',
    'name',
    'token.hash',
  ],
  ...[
    'data',
    'data[]',
    'data.*',
    'data["note"]',
    'data..note',
    'data.note::text',
    'record_type',
    'base_id',
    'r.data',
  ],
  ...[
    '_expanded',
    '~related',
    'related.related',
    '{{secret:x}}',
    '$(x)',
    '*',
    '$ref',
    '__proto__',
    'constructor',
    '\u2028',
  ],
]
const hostile = fc.constantFrom(...HOSTILE)
const field = fc.oneof(
  hostile,
  hostile.map((each) => `data.${each}`),
  hostile.map((each) => `data[${JSON.stringify(each)}]`),
  fc.constant('data.note'),
)
const op = fc.oneof(
  fc.constantFrom(
    'eq',
    'neq',
    'gt',
    'lte',
    'in',
    'not_in',
    'like',
    'ilike',
    'search',
    'has',
    'is_null',
    'is_not_null',
  ),
  hostile,
)
const value = fc.oneof(
  hostile,
  fc.constantFrom<Json>(null, 0, true, [], {}, ['a'], 1e308),
  fc.array(hostile, { maxLength: 2 }),
)
const condition = fc.record({ field, op, value }, { requiredKeys: ['field', 'op'] })
const filter = fc.oneof(
  condition,
  condition.map((not) => ({ not })),
  fc.array(condition, { maxLength: 3 }).map((or) => ({ or })),
  fc.dictionary(hostile, value, { maxKeys: 2 }),
  hostile,
)
const sort = fc.oneof(
  field,
  fc.array(fc.record({ field, direction: fc.oneof(fc.constantFrom('asc', 'desc'), hostile) }), {
    maxLength: 2,
  }),
)
const more = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'expand',
      'cursor',
      'group_by',
      'having',
      'aggregations',
      'bases',
      'record_type',
      'limit',
      'include_total',
    ),
    hostile,
  ),
  fc.oneof(
    value,
    fc.array(
      fc.record(
        { fn: fc.oneof(fc.constantFrom('count', 'max'), hostile), field, alias: hostile },
        { requiredKeys: ['fn'] },
      ),
      { maxLength: 2 },
    ),
    condition,
  ),
  { maxKeys: 2 },
)
const place = fc.constantFrom(
  { base: 'crm', type: 'granted' },
  { base: 'crm', type: 'sibling' },
  { base: 'crm', type: "granted' OR '1'='1" },
  { base: 'other', type: 'granted' },
  { base: '*', type: 'granted' },
  { base: 'crm', type: '../../other/records/granted' },
)

/** Valid and malformed requests of an attacker with a limited token. */
export const hostileRequests: fc.Arbitrary<Asked> = fc
  .record(
    { place, filter, sort, fields: fc.array(field, { maxLength: 2 }), more },
    { requiredKeys: ['place'], noNullPrototype: true },
  )
  .map(({ place, ...rest }) => ({ ...place, ...(JSON.parse(JSON.stringify(rest)) as object) }))
