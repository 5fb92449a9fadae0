/**
 * Single-owner lock: a session-level advisory lock ensures that one process at a time serves a database. It
 * ends with its connection.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** Key of the advisory lock: "plinth" in ASCII. Reserved for this purpose. */
const OWNERSHIP_LOCK = String(0x706c696e7468)

const PATIENCE_MS = 2_000
const RETRY_MS = 50

export type Ownership = { release(): Promise<void> }

/**
 * Acquires the lock. Returns null if another live process holds it. Retries for two seconds, because a killed
 * process may hold it a moment longer. `onLost` runs if the connection breaks.
 */
export async function claimOwnership(
  url: string,
  options: { onLost?: () => void } = {},
): Promise<Ownership | null> {
  const client = new pg.Client({ connectionString: url, application_name: 'plinth owner', keepAlive: true })
  let held = false
  const lost = () => {
    if (held) options.onLost?.()
    held = false
  }
  client.on('error', lost)
  client.on('end', lost)
  await client.connect()
  try {
    held = await lock(client)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  const release = async () => {
    held = false
    await client.end()
  }
  if (held) return { release }
  await release()
  return null
}

async function lock(client: pg.Client): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [
      OWNERSHIP_LOCK,
    ])
    if (rows[0]?.got) return true
    if (Date.now() > deadline) return false
    await sleep(RETRY_MS)
  }
}
