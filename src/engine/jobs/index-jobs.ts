import { LIMITS } from '../../foundation/limits.ts'
import { lockType } from '../configuration/lifecycle/lock.ts'
import { announce } from '../core/cache-notices.ts'
import type { Duplicate } from '../data/indexes/declaration.ts'
import { dropEntries } from '../data/indexes/sync.ts'
import type { Db } from '../storage/database/client.ts'
import { enqueue, type IndexKey, type Jobs } from '../storage/database/enqueue-job.ts'
import {
  BATCH,
  ENTER_AGAIN,
  ENTER_BATCH,
  ENTER_TEXT_BATCH,
  FIND_WITHOUT,
  KEEP_DUPLICATES,
  LIST_BUILDING,
  LOCK_BUILDING,
  MARK_FAILED,
  MARK_READY,
  MOST_DUPLICATES,
  RESTART_BUILD,
  TAKE_OUT,
  TEXT_BATCH,
  VALUES_OF,
} from './index-build-statements.ts'

type Building = { kind: string; built_to: string | null; duplicates: Duplicate[] | null }
type Key = readonly [base: string, type: string, index: string]
type Step = 'more' | 'judge' | 'over'

/**
 * Builds an index in batches, while concurrent writers index their own records. Resumable: progress survives
 * a crash.
 * @throws when `signal` stops it before the end
 */
export async function buildIndex(
  db: Db,
  { base, type, index }: IndexKey,
  signal: AbortSignal,
): Promise<void> {
  const key: Key = [base, type, index]
  for (let step: Step = 'more'; step !== 'over'; ) {
    signal.throwIfAborted()
    step = await db.transaction((tx) => (step === 'judge' ? judge(tx, key) : buildBatch(tx, key)))
  }
}

async function buildBatch(tx: Db, key: Key): Promise<Step> {
  const [building] = await tx.query<Building>(LOCK_BUILDING, key)
  if (!building) return 'over'
  const after = building.built_to ?? ''
  const isText = building.kind === 'text'
  const how = isText ? ENTER_TEXT_BATCH : ENTER_BATCH
  const [batch] = await tx.query<{ seen: number; entered: number; last: string | null }>(how, [...key, after])
  const { seen = 0, entered = 0, last = null } = batch ?? {}
  let duplicates = building.duplicates ?? []
  if (building.kind === 'unique' && entered < seen) {
    const refused = await enterOrRefuse(tx, key, [after, last, []])
    if (refused.length > 0) {
      duplicates = await gather(tx, key, duplicates, refused)
      await tx.query(KEEP_DUPLICATES, [...key, JSON.stringify(duplicates)])
    }
  }
  if (seen === (isText ? TEXT_BATCH : BATCH) && duplicates.length < MOST_DUPLICATES) return 'more'
  if (duplicates.length > 0) return 'judge'
  await tx.query(MARK_READY, key)
  await announce(tx, `record_type:${key[0]}/${key[1]}`)
  return 'over'
}

type Which = readonly [after: string, last: string | null, ids: readonly string[]]

/**
 * Returns the records that duplicates keep out of a unique index. A missing entry without a duplicate is the
 * result of a race: a writer has just changed or deleted the duplicate. Indexes such records again.
 */
async function enterOrRefuse(tx: Db, key: Key, which: Which): Promise<Refused[]> {
  for (;;) {
    const without = await tx.query<Refused | { id: string; holder: null }>(FIND_WITHOUT, [...key, ...which])
    const free = without.filter(({ holder }) => holder === null).map(({ id }) => id)
    if (free.length === 0) return without.filter((each) => each.holder !== null)
    await tx.query(ENTER_AGAIN, [...key, free])
  }
}

/**
 * Decides under a lock that blocks writers whether an index with duplicates failed. Some duplicates may have
 * been resolved since.
 */
async function judge(tx: Db, key: Key): Promise<Step> {
  const [base, type, index] = key
  await lockType(tx, 'record_type', base, type)
  const [building] = await tx.query<Building>(LOCK_BUILDING, key)
  if (!building) return 'over'
  const ids = (building.duplicates ?? []).flatMap((group) => group.ids)
  const refused = await enterOrRefuse(tx, key, ['', '', ids])
  if (refused.length === 0) {
    await tx.query(RESTART_BUILD, key)
    return 'more'
  }
  await tx.query(MARK_FAILED, [...key, JSON.stringify(await gather(tx, key, [], refused))])
  await dropEntries(tx, base, index)
  await announce(tx, `record_type:${base}/${type}`)
  return 'over'
}

/** Enqueues all unfinished builds again, after a crash. Does not disturb a running one. */
export async function resumeBuilds(db: Db): Promise<void> {
  for (const key of await db.query<IndexKey>(LIST_BUILDING, []))
    await enqueue(db, 'build_index', key, `build:${key.index}`)
}

/**
 * Deletes the entries of a dropped index in batches.
 * @throws when the job is stopped
 */
export async function dropIndexEntries(
  db: Db,
  { base, index }: Jobs['drop_index_entries'],
  signal: AbortSignal,
): Promise<void> {
  for (const how of TAKE_OUT)
    for (let gone = 1; gone > 0; ) {
      signal.throwIfAborted()
      gone = (await db.query<{ gone: number }>(how, [base, index]))[0]?.gone ?? 0
    }
}

/** A record without an entry in a unique index, and the record with the same values. */
type Refused = { id: string; holder: string }

/** Merges duplicates into the groups found so far: at most ten groups of at most ten records. */
async function gather(
  db: Db,
  key: readonly [base: string, type: string, index: string],
  known: readonly Duplicate[],
  refused: readonly Refused[],
): Promise<Duplicate[]> {
  const groups = new Map(known.map((group) => [group.ids[0], { ...group, ids: [...group.ids] }]))
  for (const { id, holder } of refused) {
    const group = groups.get(holder) ?? { values: [], ids: [holder] }
    if (!groups.has(holder) && groups.size === MOST_DUPLICATES) continue
    if (group.ids.length < MOST_DUPLICATES && !group.ids.includes(id)) group.ids.push(id)
    groups.set(holder, group)
  }
  const holders = [...groups.values()].filter(({ values }) => values.length === 0).map(({ ids }) => ids[0])
  const found = await db.query<{ id: string; values: unknown[] }>(VALUES_OF, [...key, holders])
  for (const { id, values } of found) {
    const group = groups.get(id)
    if (group) group.values = values.map(shortened)
  }
  return [...groups.values()]
}

/** Truncates a long value. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LIMITS.jobErrorChars ? `${text.slice(0, LIMITS.jobErrorChars)}…` : value
}
