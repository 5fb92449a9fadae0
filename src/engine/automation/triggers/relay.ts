/** The relay: turns committed changes into deliveries, each once. */
import { EVENT_TYPES } from '../../../contract/trigger-shapes.ts'
import { whenAborted } from '../../../foundation/cancellation.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { Scope } from '../../core/scope.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { type Linked, linkMatches } from './chain.ts'
import { basesWithTriggers, enabledTriggers } from './enabled-triggers.ts'
import { type Entry, matchEntries } from './match.ts'

const POSITION = statement(
  'relay_position',
  'SELECT seq::float8 AS seq FROM plinth.trigger_relay WHERE base_id = $1 FOR UPDATE',
)
const MOVE = statement('move_relay', 'UPDATE plinth.trigger_relay SET seq = $2 WHERE base_id = $1')

const ENTRIES = statement(
  'entries_to_relay',
  `SELECT c.seq::float8 AS seq, c.record_type, c.id, c.via, c.cause,
     CASE c.kind WHEN 'record' THEN c.operation WHEN 'preview' THEN 'preview.' || (c.data ->> 'event')
       WHEN 'review_request' THEN CASE WHEN c.data ->> 'kind' = 'pause' THEN CASE c.operation WHEN 'create' THEN 'token.paused' ELSE 'token.resumed' END END
     END AS event
   FROM plinth.change c WHERE c.base_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT $4`,
)

const ADD = statement(
  'add_deliveries',
  `INSERT INTO plinth.trigger_delivery
     (base_id, trigger_id, id, event, record_type, record_id, change_seq, depth, root_id, status, next_attempt_at, error, created_at)
   SELECT $1, d.trigger_id, d.id, d.event, d.record_type, d.record_id, d.seq, d.depth, d.root_id, CASE WHEN d.error IS NULL THEN 'pending' ELSE 'dead' END,
     CASE WHEN d.error IS NULL THEN clock_timestamp() END, d.error, clock_timestamp()
   FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::int[], $9::text[], $10::text[])
     AS d (trigger_id, id, event, record_type, record_id, seq, depth, root_id, error)`,
)

/**
 * Matches the entries of a base up to the watermark with its triggers. Deliveries and position commit together, so a
 * change that committed makes its deliveries once, even if the process ends. Returns whether it added some. `size`:
 * entries of one transaction.
 */
async function relay(
  scope: Scope,
  baseId: string,
  watermark: number,
  size: number = LIMITS.relayedEntries,
): Promise<boolean> {
  let added = false
  for (let hasMore = true; hasMore; ) {
    const step = await scope.db.statements((tx) =>
      relayStep({ ...scope, db: tx }, { baseId, watermark, size }),
    )
    added ||= step.added
    hasMore = step.hasMore
  }
  return added
}

async function relayStep(
  scope: Scope,
  { baseId, watermark, size }: { baseId: string; watermark: number; size: number },
): Promise<{ added: boolean; hasMore: boolean }> {
  const { db } = scope
  const [position] = await db.query<{ seq: number }>(POSITION, [baseId])
  // Without a position, the base has had no trigger yet, or is gone.
  if (!position || position.seq >= watermark) return { added: false, hasMore: false }
  const followers = await enabledTriggers(db, baseId)
  const first = Math.min(watermark, ...followers.map(({ afterSeq }) => afterSeq))
  const after = Math.max(position.seq, first)
  // Each trigger can follow each entry, so that their product is what is held in memory.
  const most = Math.max(1, Math.min(size, Math.floor(LIMITS.relayedDeliveries / (followers.length || 1))))
  const entries =
    followers.length > 0
      ? await db.query<Omit<Entry, 'event'> & { event: string | null }>(ENTRIES, [
          baseId,
          after,
          watermark,
          most,
        ])
      : []
  const isFull = entries.length === most
  const followed = entries.filter((entry): entry is Entry => entry.event !== null)
  const matches = await linkMatches(db, baseId, await matchEntries(scope, baseId, followed, followers))
  for (let n = 0; n < matches.length; n += LIMITS.relayedAtOnce)
    await add(db, baseId, matches.slice(n, n + LIMITS.relayedAtOnce))
  const last = entries.at(-1)?.seq
  await db.query(MOVE, [baseId, isFull && last !== undefined ? last : watermark])
  return { added: matches.length > 0, hasMore: isFull }
}

const add = (db: Db, baseId: string, matches: readonly Linked[]) =>
  db.query(ADD, [
    baseId,
    matches.map(({ trigger }) => trigger),
    matches.map(() => uuidv7()),
    matches.map(({ entry }) => EVENT_TYPES[entry.event as keyof typeof EVENT_TYPES] ?? entry.event),
    matches.map(({ entry }) => entry.record_type),
    matches.map(({ entry }) => (entry.record_type === null ? null : entry.id)),
    matches.map(({ entry }) => entry.seq),
    matches.map(({ depth }) => depth),
    matches.map(({ root }) => root),
    matches.map(({ error }) => error),
  ])

// Matches the log of each base that has triggers, as it grows.

/**
 * Follows the logs until the signal aborts. `changed` is called when a base has new deliveries, or its triggers have
 * changed.
 */
export async function followBases(
  scope: Scope,
  log: Log,
  until: AbortSignal,
  changed: (base: string) => Promise<void>,
): Promise<void> {
  const followed = new Map<string, () => void>()
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()

  const step = async (base: string): Promise<void> => {
    for (let size: number | undefined; !until.aborted; size = LIMITS.relayedAfterFailure)
      try {
        if (await relay(scope, base, scope.feed.known(), size)) await changed(base)
        return
      } catch (err) {
        if (until.aborted) return
        log.warn({ err, base }, 'changes were not matched with triggers; it is tried again')
        await new Promise((resolve) => setTimeout(resolve, LIMITS.feedRetryMs).unref())
      }
  }
  /** One at a time for each base. A call meanwhile makes one more. */
  const match = (base: string): void => {
    if (until.aborted) return
    if (running.has(base)) return void again.add(base)
    const done = step(base).finally(() => {
      running.delete(base)
      if (again.delete(base)) match(base)
    })
    running.set(base, done)
  }
  const update = async (base: string | null): Promise<void> => {
    const found = await basesWithTriggers(scope.db, base)
    for (const [id, unwatch] of followed)
      if ((base === null || base === id) && !found.includes(id)) {
        unwatch()
        followed.delete(id)
        await changed(id)
      }
    for (const id of found) {
      await changed(id)
      if (followed.has(id)) continue
      followed.set(
        id,
        scope.feed.watch(id, () => match(id)),
      )
      match(id)
    }
  }
  const retried = (base: string | null): void => {
    if (until.aborted) return
    update(base).catch((err) => {
      if (until.aborted) return
      log.warn({ err, base }, 'the triggers were not read; it is tried again')
      setTimeout(() => retried(base), LIMITS.feedRetryMs).unref()
    })
  }
  const unlisten = scope.caches.onAnnounced((topic) => {
    const [kind, key = ''] = topic?.split(/:(.*)/s) ?? []
    if (topic === null) retried(null)
    else if (kind === 'trigger' || kind === 'base') retried(key.split('/')[0] ?? key)
  })
  retried(null)
  await whenAborted(until)
  unlisten()
  for (const unwatch of followed.values()) unwatch()
  await Promise.all(running.values())
}
