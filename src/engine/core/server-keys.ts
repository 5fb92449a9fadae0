import { randomBytes } from 'node:crypto'
import { type Db, statement } from '../database/client.ts'

/** What the server's own keys are for. Beside them stands `admin-token`, the hash of the token that the settings named last. */
type Purpose = 'cursor' | 'plan'

const KEY_BYTES = 32
const KEEP = statement(
  'keep_secret',
  `WITH made AS (INSERT INTO plinth.server_secret (purpose, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING value)
   SELECT value FROM made UNION ALL SELECT value FROM plinth.server_secret WHERE purpose = $1 LIMIT 1`,
)

/** The key for a purpose, made once: all processes on one database share it. */
export async function serverSecret(db: Db, purpose: Purpose): Promise<Buffer> {
  for (;;) {
    const [row] = await db.query<{ value: Buffer }>(KEEP, [purpose, randomBytes(KEY_BYTES)])
    // Two processes that meet: the one that lost sees the other's key at its next statement.
    if (row) return row.value
  }
}
