import { randomBytes } from 'node:crypto'
import { type Db, statement } from '../database/client.ts'

/**
 * Purposes of the server's keys. The same table stores `admin-token`, the hash of the token last configured
 * in the settings.
 */
type Purpose = 'cursor' | 'plan'

const KEY_BYTES = 32
const KEEP = statement(
  'keep_secret',
  `WITH made AS (INSERT INTO plinth.server_secret (purpose, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING value)
   SELECT value FROM made UNION ALL SELECT value FROM plinth.server_secret WHERE purpose = $1 LIMIT 1`,
)

/** Returns the key for a purpose. Creates it on first use; all processes on one database share it. */
export async function serverSecret(db: Db, purpose: Purpose): Promise<Buffer> {
  for (;;) {
    const [row] = await db.query<{ value: Buffer }>(KEEP, [purpose, randomBytes(KEY_BYTES)])
    // After a race, the loser reads the winner's key with its next statement.
    if (row) return row.value
  }
}
