/**
 * The floor: the least a server on this stack can do. Fastify and `pg`, one named prepared statement a request; no
 * token, no validation, no history, no access rules. What Plinth adds is measured against it.
 */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'

const COLUMNS = 'id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at'
const GET = `SELECT ${COLUMNS} FROM floor.record WHERE base_id = $1 AND record_type = $2 AND id = $3`
const LIST = `SELECT ${COLUMNS} FROM floor.record WHERE base_id = $1 AND record_type = $2 ORDER BY created_at DESC, id DESC LIMIT 50`
const QUERY = `SELECT ${COLUMNS} FROM floor.ticket WHERE base_id = $1 AND record_type = $2 AND data ->> 'status' = $3 ORDER BY data ->> 'due' DESC, id DESC LIMIT 50`
// The same rows: how long a table is read depends on what else is in it.
const AGGREGATE = `SELECT data ->> 'status' AS status, count(*), sum((data ->> 'amount')::numeric) FROM plinth.record
  WHERE base_id = $1 AND record_type = $2 GROUP BY 1 ORDER BY 1`
const INSERT = `INSERT INTO floor.record AS r (base_id, record_type, id, data) VALUES ($1, $2, $3, $4)`
const POST = `${INSERT} RETURNING ${COLUMNS}`
const PUT = `${INSERT} ON CONFLICT (base_id, record_type, id) DO UPDATE
  SET data = excluded.data, version = r.version + 1, updated_at = now() RETURNING ${COLUMNS}`
const PUT_MANY = `INSERT INTO floor.record AS r (base_id, record_type, id, data)
  SELECT $1, $2, i.id, i.data FROM unnest($3::text[], $4::jsonb[]) AS i (id, data)
  ON CONFLICT (base_id, record_type, id) DO UPDATE
  SET data = excluded.data, version = r.version + 1, updated_at = now() RETURNING ${COLUMNS}`

type Params = { base: string; type: string; id: string }
type Body = { data: unknown }
type Many = { records: { id: string; data: unknown }[] }

// As many connections as Plinth holds.
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 12 })
const run = async (name: string, text: string, values: unknown[]) =>
  (await pool.query<object>({ name, text, values })).rows

const app = Fastify()
app.get<{ Params: Params }>('/records/:base/:type/:id', async ({ params: { base, type, id } }, reply) => {
  const [row] = await run('get', GET, [base, type, id])
  return row ?? reply.code(404).send({ error: 'not found' })
})
app.get<{ Params: Params }>('/records/:base/:type', async ({ params: { base, type } }) => ({
  data: await run('list', LIST, [base, type]),
}))
app.get<{ Params: Params & { status: string } }>('/tickets/:base/:type/:status', async ({ params }) => ({
  data: await run('query', QUERY, [params.base, params.type, params.status]),
}))
app.get<{ Params: Params }>('/sums/:base/:type', async ({ params: { base, type } }) => ({
  data: await run('aggregate', AGGREGATE, [base, type]),
}))
app.put<{ Params: Params; Body: Body }>('/records/:base/:type/:id', async ({ params, body }) => {
  const [row] = await run('put', PUT, [params.base, params.type, params.id, body.data])
  return row
})
app.post<{ Params: Params; Body: Body }>('/records/:base/:type', async ({ params, body }, reply) => {
  const [row] = await run('post', POST, [params.base, params.type, randomUUID(), body.data])
  return reply.code(201).send(row)
})
app.post<{ Params: Params; Body: Many }>(
  '/records/:base/:type/many',
  async ({ params, body: { records } }) => ({
    data: await run('put_many', PUT_MANY, [
      params.base,
      params.type,
      records.map(({ id }) => id),
      records.map(({ data }) => JSON.stringify(data)),
    ]),
  }),
)

// `exit` rather than a silent death, so that a profile of the process is written too.
process.on('SIGTERM', () => process.exit(0))
process.stdout.write(`floor ready ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
