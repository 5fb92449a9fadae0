/** Clients that registered themselves: their number is bounded, and those that nobody allows go after a day. */
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { batchDeletion } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'

type RegisteredClient = { id: string; name: string; redirectUris: readonly string[] }

const LOCK = statement(
  'lock_oauth_clients',
  `SELECT pg_advisory_xact_lock(hashtextextended('oauth_clients', 0))::text`,
)
/** Makes room: the oldest that nobody allowed, unless it is so new that its person may be reading. */
const MAKE_ROOM = statement(
  'make_room_for_oauth_client',
  `DELETE FROM plinth.oauth_client WHERE id IN (
     SELECT c.id FROM plinth.oauth_client c
     WHERE c.created_at < now() - interval '10 minutes'
       AND NOT EXISTS (SELECT FROM plinth.oauth_authorization a WHERE a.client_id = c.id)
       AND (SELECT count(*) FROM plinth.oauth_client) >= ${LIMITS.oauthClients}
     ORDER BY c.created_at LIMIT 1)`,
)
export const UNUSED_CLIENTS = batchDeletion(
  'sweep_oauth_clients',
  'oauth_client',
  `created_at < now() - interval '1 day'
     AND NOT EXISTS (SELECT FROM plinth.oauth_authorization a WHERE a.client_id = oauth_client.id)`,
)

/** Stores a client. Undefined if there are too many. */
export function registerClient(db: Db, client: Omit<RegisteredClient, 'id'>) {
  return db.transaction(async (tx) => {
    await tx.query(LOCK, [])
    await tx.query(MAKE_ROOM, [])
    if ((await tx.orm.oAuthClient.count()) >= LIMITS.oauthClients) return undefined
    const id = uuidv7()
    await tx.orm.oAuthClient.create({
      data: { id, name: client.name, redirectUris: [...client.redirectUris] },
    })
    return { id, ...client }
  })
}

/** A client that registered itself; undefined if there is none. */
export async function findClient(db: Db, id: string): Promise<RegisteredClient | undefined> {
  const row = await db.orm.oAuthClient.findUnique({ where: { id } })
  return row ? { id, name: row.name, redirectUris: row.redirectUris as string[] } : undefined
}
