/** What is read and written: one record type, its content, and the same rows in a table of the floor. */
import pg from 'pg'

export const BASE = 'bench'
export const TYPE = 'task'
export const FIRST_ID = 'r1'

export const SCHEMA = {
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
  CREATE INDEX ON floor.record (base_id, record_type, created_at, id)`
const FILL = `
  INSERT INTO plinth.record (base_id, record_type, id, data, version, created_at, updated_at)
  SELECT $1, $2, 'r' || n, replace($3, '100000000', (100000000 + n)::text)::jsonb, 1, at, at
  FROM generate_series(1, $4::int) n, LATERAL (SELECT now() - n * interval '1 second' AS at) t`
const COPY = `
  INSERT INTO floor.record (base_id, record_type, id, data, version, created_at, updated_at)
  SELECT base_id, record_type, id, data, version, created_at, updated_at FROM plinth.record`

/** Fills the record type, which is there already, and gives the floor the same rows. Answers what the database is. */
export async function fill(databaseUrl: string, records: number): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(FLOOR_TABLE)
    await client.query(FILL, [BASE, TYPE, content(0), records])
    await client.query(COPY)
    await client.query('VACUUM ANALYZE plinth.record')
    await client.query('VACUUM ANALYZE floor.record')
    await client.query('CHECKPOINT')
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return `PostgreSQL ${rows[0]?.server_version.split(' ', 1)[0]}`
  } finally {
    await client.end()
  }
}
