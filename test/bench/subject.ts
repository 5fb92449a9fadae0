/** What is read and written: its content, and the same rows in tables of the floor. */
import pg from 'pg'

export const BASE = 'bench'
export const TYPE = 'task'
export const FIRST_ID = 'r1'
/** The type that is queried: with declared indexes, as is the floor's table of it. One more of it has few records. */
export const QUERIED = 'ticket'
export const QUERIED_FEW = 'ticket-few'
export const FEW = 10_000
export const STATES = ['open', 'done', 'held', 'late', 'lost'] as const

export const QUERIED_TYPE = {
  json_schema: {
    type: 'object',
    properties: {
      status: { enum: STATES },
      due: { type: 'string', format: 'date' },
      amount: { type: 'number' },
    },
  },
  indexes: [
    { fields: ['data.status', { field: 'data.due', direction: 'desc' }] },
    { fields: ['data.amount'] },
  ],
}

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['title', 'status', 'amount'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 200 },
    status: { enum: ['open', 'waiting', 'done'] },
    amount: { type: 'number', minimum: 0 },
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    due: { type: 'string', format: 'date' },
    priority: { type: 'integer', minimum: 1, maximum: 5 },
    tags: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 40 } },
    owner: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } },
    },
  },
}

/** A declared index, as most types have. No write of the benchmark changes what it reads, and the floor has none. */
export const TASK_TYPE = { json_schema: SCHEMA, indexes: [{ fields: ['data.status', 'data.priority'] }] }

/** The content number n: always as long, never the same twice. */
export const content = (n: number): string =>
  `{"title":"Call the customer back about the offer","status":"open","amount":${100_000_000 + n},"currency":"EUR",` +
  `"due":"2031-05-17","priority":3,"tags":["sales","follow-up","west"],"owner":{"name":"Ada Lovelace","email":"ada@example.com"}}`

const FLOOR_TABLE = `
  CREATE SCHEMA floor;
  CREATE TABLE floor.record (
    base_id text NOT NULL, record_type text NOT NULL, id text NOT NULL, external_source text, external_id text,
    data jsonb NOT NULL, version integer NOT NULL DEFAULT 1, cancelled_at timestamptz(3),
    valid boolean NOT NULL DEFAULT true, created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(), PRIMARY KEY (base_id, record_type, id));
  CREATE INDEX ON floor.record (base_id, record_type, created_at, id);
  CREATE TABLE floor.ticket (LIKE floor.record INCLUDING ALL)`
const FLOOR_INDEX = `CREATE INDEX ON floor.ticket (base_id, record_type, (data ->> 'status'), (data ->> 'due') DESC, id DESC)`
/** Statuses in turn, dates over twenty years and amounts over a million, all of them shuffled. */
const FILL_QUERIED = `
  INSERT INTO plinth.record (base_id, record_type, id, data, version, created_at, updated_at)
  SELECT $1, $2, 'r' || n, jsonb_build_object(
      'title', 'Ticket number ' || n, 'status', ($4::text[])[1 + n % 5], 'due', date '2020-01-01' + (n::bigint * 7919 % 7300)::int,
      'amount', (n::bigint * 104729 % 1000003) / 4.0, 'owner', jsonb_build_object('name', 'Ada Lovelace', 'email', 'ada@example.com')),
    1, at, at
  FROM generate_series(1, $3::int) n, LATERAL (SELECT now() - n * interval '1 second' AS at) t`
const FILL = `
  INSERT INTO plinth.record (base_id, record_type, id, data, version, created_at, updated_at)
  SELECT $1, $2, 'r' || n, replace($3, '100000000', (100000000 + n)::text)::jsonb, 1, at, at
  FROM generate_series(1, $4::int) n, LATERAL (SELECT now() - n * interval '1 second' AS at) t`
const COPY = `
  INSERT INTO floor.record (base_id, record_type, id, data, version, created_at, updated_at)
  SELECT base_id, record_type, id, data, version, created_at, updated_at FROM plinth.record WHERE record_type = $1`

/** Fills the record types, which are there already, and gives the floor the same rows. Answers what the database is. */
export async function fill(databaseUrl: string, records: number): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(FLOOR_TABLE)
    await client.query(FILL, [BASE, TYPE, content(0), records])
    await client.query(COPY, [TYPE])
    await client.query(FILL_QUERIED, [BASE, QUERIED, records, STATES])
    await client.query(FILL_QUERIED, [BASE, QUERIED_FEW, FEW, STATES])
    await client.query(COPY.replace('floor.record', 'floor.ticket'), [QUERIED])
    await client.query(FLOOR_INDEX)
    for (const table of ['plinth.record', 'floor.record', 'floor.ticket'])
      await client.query(`VACUUM ANALYZE ${table}`)
    await client.query('CHECKPOINT')
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return `PostgreSQL ${rows[0]?.server_version.split(' ', 1)[0]}`
  } finally {
    await client.end()
  }
}

/** After the indexes of a filled type are built: what autovacuum would do in a minute. */
export async function settle(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('VACUUM ANALYZE plinth.record_index')
  await client.end()
}
