import { setTimeout as sleep } from 'node:timers/promises'
import { digest, digestInTurns } from '../../../contract/canonical-hash.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { parseSound } from '../../../json/parse.ts'
import { textOfList } from '../../../json/rows.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { LOCK_TIMEOUT, sqlState } from '../../storage/database/errors.ts'
import type { Scope } from '../scope.ts'
import type { UsedRight } from './used-rights.ts'

/** Idempotency key: its owner, its text, and the hash of its request. */
export type Key = { tokenId: string; key: string; request: RequestHash }
export type StoredOutcome = (
  | { answer: object }
  | { error: { code: string; message: string; details: object[]; requestId: string } }
) & {
  /** The rights that the write used; absent in rows of earlier versions. */
  used?: UsedRight[]
}

type Steps<T> = {
  /** Called when the key is locked. The request may have waited for it. */
  waited: (db: Db) => Promise<void>
  run: (db: Db) => Promise<T>
  /** Completes an error whose write was rolled back. */
  explain: (thrown: unknown, db: Db) => Promise<unknown>
  /** Returns the outcome to store; null stores nothing and releases the key. */
  store: (outcome: { answer: object } | { thrown: unknown }) => StoredOutcome | null
  replay: (stored: StoredOutcome) => T
}

const CLAIM = statement(
  'claim_key',
  `INSERT INTO plinth.idempotency AS i (token_id, key, fingerprint) VALUES ($1, $2, $3)
   ON CONFLICT (token_id, key) DO UPDATE SET fingerprint = $3, outcome = NULL, created_at = now()
     WHERE i.created_at < now() - make_interval(hours => ${LIMITS.idempotencyHours})
   RETURNING 1 AS claimed`,
)
const FIND = statement(
  'find_key',
  `SELECT fingerprint, outcome::text AS outcome FROM plinth.idempotency
   WHERE token_id = $1 AND key = $2 AND created_at >= now() - make_interval(hours => ${LIMITS.idempotencyHours})`,
)
const STORE = statement(
  'store_outcome',
  'UPDATE plinth.idempotency SET outcome = $3::json WHERE token_id = $1 AND key = $2',
)
const WAIT = statement('key_wait', `SET LOCAL lock_timeout = ${LIMITS.idempotencyWaitMs}`)
const WAIT_NO_MORE = statement('key_wait_over', 'SET LOCAL lock_timeout = 0')
const SAVEPOINT = statement('key_savepoint', 'SAVEPOINT keyed')
const UNDO = statement('key_undo', 'ROLLBACK TO SAVEPOINT keyed')
const EXPIRE = statement(
  'expire_keys',
  `DELETE FROM plinth.idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM plinth.idempotency
     WHERE created_at < now() - make_interval(hours => ${LIMITS.idempotencyHours}) LIMIT 5000))`,
)

/**
 * Requests of this process in flight, by key. Later ones wait here without a connection. Fulfilled once an
 * outcome is stored, rejected if none is.
 */
const inFlight = new Map<string, Promise<unknown>>()

/**
 * Runs a write at most once per idempotency key. Inserts the row of the key first, so that a second request
 * in another process blocks on it. The row commits with the write and its outcome.
 * @throws CONFLICT when the key was sent with another request, or is still in flight after 10 s
 */
export async function claimKey<T extends object>(scope: Scope, key: Key, steps: Steps<T>): Promise<T> {
  const name = `${key.tokenId}\n${key.key}`
  const deadline = Date.now() + LIMITS.idempotencyWaitMs
  for (let owner = inFlight.get(name); owner; owner = inFlight.get(name)) {
    if (await storedWithin(owner, deadline - Date.now()))
      return (await runClaimed(scope, key, steps, findOrClaim))()
  }
  const running = runClaimed(scope, key, steps)
  inFlight.set(name, running)
  try {
    return (await running)()
  } finally {
    inFlight.delete(name)
  }
}

/** Resolves once an outcome is stored, to a function that returns the answer or throws the stored error. */
async function runClaimed<T extends object>(scope: Scope, key: Key, steps: Steps<T>, claim = claimOrFind) {
  return scope.db.transaction(async (tx): Promise<() => T> => {
    const stored = await claim(tx, key)
    await steps.waited(tx)
    if (stored) return () => steps.replay(stored)
    await tx.query(SAVEPOINT, [])
    try {
      const done = await steps.run(tx)
      await tx.query(STORE, [key.tokenId, key.key, await textOf(steps.store({ answer: done }))])
      return () => done
    } catch (thrown) {
      if (!steps.store({ thrown })) throw thrown
      await tx.query(UNDO, [])
      const explained = await steps.explain(thrown, tx)
      await tx.query(STORE, [key.tokenId, key.key, JSON.stringify(steps.store({ thrown: explained }))])
      return () => {
        throw explained
      }
    }
  })
}

/**
 * Serializes an outcome as JSON. Yields to the event loop between the items of a batch, which may be large.
 */
async function textOf(outcome: StoredOutcome | null): Promise<string> {
  if (outcome === null || !('answer' in outcome)) return JSON.stringify(outcome)
  const { answer, ...rest } = outcome
  const text = await textOfList(answer)
  return text
    ? `${JSON.stringify({ used: [], ...rest }).slice(0, -1)},"answer":${text}}`
    : JSON.stringify(outcome)
}

async function claimOrFind(tx: Db, key: Key): Promise<StoredOutcome | undefined> {
  await tx.query(WAIT, [])
  try {
    const [claimed] = await tx.query(CLAIM, [key.tokenId, key.key, key.request.text])
    await tx.query(WAIT_NO_MORE, [])
    if (claimed) return undefined
  } catch (thrown) {
    if (sqlState(thrown) === LOCK_TIMEOUT) throw stillInFlight()
    throw thrown
  }
  const stored = await findStored(tx, key)
  if (!stored) throw stillInFlight()
  return stored
}

/** Takes no lock, unlike a claim, so all requests that waited for an outcome replay it at once. */
const findOrClaim = async (tx: Db, key: Key) => (await findStored(tx, key)) ?? claimOrFind(tx, key)

async function findStored(tx: Db, key: Key): Promise<StoredOutcome | undefined> {
  const [row] = await tx.query<{ fingerprint: string; outcome: string }>(FIND, [key.tokenId, key.key])
  if (!row) return undefined
  requireSameRequest(key, row.fingerprint)
  return (await parseSound(row.outcome)) as StoredOutcome
}

/**
 * Checks the key of a dry run, which neither stores nor replays it.
 * @throws CONFLICT when a write has used the key
 */
export async function refuseUsedKey(scope: Scope, key: Key): Promise<void> {
  const [row] = await scope.db.query(FIND, [key.tokenId, key.key])
  if (row) throw usedByWrite()
}

function requireSameRequest({ request }: Key, stored: string): void {
  const isSame = request.equals(stored)
  if (isSame === undefined) throw otherMasterKey()
  if (!isSame) throw otherRequest()
}

/** Deletes keys older than a day, a bounded number per call. */
export async function expireKeys(db: Db): Promise<void> {
  await db.query(EXPIRE, [])
}

/**
 * Whether the request in flight stored an outcome.
 * @throws CONFLICT when it is not done in time
 */
async function storedWithin(owner: Promise<unknown>, ms: number): Promise<boolean> {
  const stored = owner.then(() => true).catch(() => false)
  const first = await Promise.race([stored, sleep(Math.max(0, ms), 'late' as const, { ref: false })])
  if (first === 'late') throw stillInFlight()
  return first
}

const keyConflict = (code: string, message: string) =>
  oneFault('CONFLICT', message, { path: '/idempotency_key', code })
const otherRequest = () =>
  keyConflict(
    'key_reused',
    `This ${advised('idempotency_key')} was used for a different request. Send a new key.`,
  )
const usedByWrite = () =>
  keyConflict(
    'key_reused',
    `A write has used this ${advised('idempotency_key')}, and this is a dry run. Send dry runs before the write, or without a key.`,
  )
const otherMasterKey = () =>
  keyConflict(
    'key_of_other_master_key',
    `This ${advised('idempotency_key')} was used under a master key that this server does not have, so the requests cannot be compared. Check whether the first one was carried out, and send a new key if not.`,
  )
const stillInFlight = () =>
  keyConflict(
    'key_in_flight',
    `A request with this ${advised('idempotency_key')} is still running. Send it again in a moment.`,
  )

// The stored hash of a request. It shows whether a request under a known Idempotency-Key is a repeat.

type RequestHash = {
  /** What is stored. */
  readonly text: string
  /** Whether a stored hash is that of the request; undefined if only another master key can tell. */
  equals(stored: string): boolean | undefined
}

/**
 * Hashes a request. The hash of one that carries secrets needs the master key, since a plain hash would confirm guesses
 * of a short secret. Others have a plain hash, so that servers without the master key can compare them.
 */
export async function hashRequest(
  { vault, policy }: Scope,
  request: unknown,
  carriesSecrets: boolean,
): Promise<RequestHash> {
  const content = await digestInTurns(request)
  // With the policy, so that a response is not replayed under another policy.
  const plain = policy ? digest([content, policy.name]) : content
  if (!carriesSecrets) return { text: plain, equals: (stored) => stored === plain }
  return {
    text: vault.fingerprint(plain),
    // Earlier versions stored plain hashes of all requests, for a day.
    equals: (stored) => stored === plain || vault.isFingerprintOf(plain, stored),
  }
}
