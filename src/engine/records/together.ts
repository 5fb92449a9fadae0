import DataLoader from 'dataloader'
import type { Db } from '../db.ts'
import { UPDATE_MANY, type WrittenRow } from './put-statements.ts'
import { GET, GET_MANY } from './read-statements.ts'
import type { RecordRow } from './record.ts'

type RecordKey = { baseId: string; recordType: string; id: string }
/** A plain update of one record: validated against `typeVersion`, its pair left alone, on no condition. */
type PlainUpdate = RecordKey & {
  typeVersion: number
  text: string
  author: readonly [string | null, string, string, string]
}

/**
 * Requests that arrive together share a statement. What is asked in one turn of the event loop goes out at its end, so
 * nobody waits, and one alone goes alone. Permissions are asked before; a group never spans what is asked of them.
 */
export type Together = {
  /** The database it runs on. A transaction is another one, and runs its statements itself. */
  readonly db: Db
  readRecord(key: RecordKey): Promise<RecordRow | undefined>
  /** Undefined when the record is absent, has this data, or its type has another version: the caller finds out which. */
  updateRecord(update: PlainUpdate): Promise<WrittenRow | undefined>
}

const MAX_GROUP = 64
/** Data of one group, at most; larger records go alone. */
const MAX_GROUP_TEXT = 16 * 1024

export function openTogether(db: Db): Together {
  const options = {
    cache: false,
    maxBatchSize: MAX_GROUP,
    batchScheduleFn: (flush: () => void) => void setImmediate(flush),
  }
  const reads = new DataLoader<RecordKey, RecordRow | undefined>((keys) => readAll(db, keys), options)
  const updates = new DataLoader<PlainUpdate, WrittenRow | undefined>((all) => updateAll(db, all), options)
  return {
    db,
    readRecord: (key) => reads.load(key),
    updateRecord: (update) =>
      update.text.length > MAX_GROUP_TEXT ? updateOne(db, update) : updates.load(update),
  }
}

async function readAll(db: Db, keys: readonly RecordKey[]): Promise<(RecordRow | undefined)[]> {
  const [only] = keys
  if (only && keys.length === 1)
    return [(await db.query<RecordRow>(GET, [only.baseId, only.recordType, only.id]))[0]]
  const columns = [
    keys.map((key) => key.baseId),
    keys.map((key) => key.recordType),
    keys.map((key) => key.id),
  ]
  const rows = await db.query<RecordRow & { n: number }>(GET_MANY, columns)
  const found: (RecordRow | undefined)[] = new Array(keys.length).fill(undefined)
  for (const row of rows) found[row.n - 1] = row
  return found
}

/** Groups of one base, type and author; of two updates of one record the second comes after. */
async function updateAll(db: Db, all: readonly PlainUpdate[]): Promise<(WrittenRow | undefined | Error)[]> {
  const results: (WrittenRow | undefined | Error)[] = new Array(all.length).fill(undefined)
  const groups = new Map<string, number[]>()
  const later: number[] = []
  const seen = new Set<string>()
  for (const [index, { baseId, recordType, id, typeVersion, author }] of all.entries()) {
    const group = [baseId, recordType, typeVersion, author[0], author[2]].join('\n')
    const record = `${baseId}\n${recordType}\n${id}`
    if (seen.has(record)) later.push(index)
    else groups.set(group, [...(groups.get(group) ?? []), index])
    seen.add(record)
  }
  await Promise.all([...groups.values()].map((group) => updateGroup(db, all, group, results)))
  for (const index of later) results[index] = await settle(() => updateOne(db, all[index] as PlainUpdate))
  return results
}

/** A group that fails is run again one by one, so that nobody fails for another. */
async function updateGroup(
  db: Db,
  all: readonly PlainUpdate[],
  group: readonly number[],
  results: (WrittenRow | undefined | Error)[],
) {
  const updates = group.map((index) => all[index] as PlainUpdate)
  try {
    const rows = await updateMany(db, updates)
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const index of group) results[index] = byId.get((all[index] as PlainUpdate).id)
  } catch (failure) {
    if (group.length === 1) results[group[0] as number] = failure as Error
    else
      for (const index of group) results[index] = await settle(() => updateOne(db, all[index] as PlainUpdate))
  }
}

const updateOne = async (db: Db, update: PlainUpdate) => (await updateMany(db, [update]))[0]

function updateMany(db: Db, updates: readonly PlainUpdate[]): Promise<WrittenRow[]> {
  const [{ baseId, recordType, typeVersion, author }] = updates as [PlainUpdate]
  return db.query<WrittenRow>(UPDATE_MANY, [
    baseId,
    recordType,
    typeVersion,
    updates.map(({ id }) => id),
    updates.map(({ text }) => text),
    updates.map((update) => update.author[3]),
    author[0],
    author[1],
    author[2],
  ])
}

async function settle<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work()
  } catch (failure) {
    return failure as Error
  }
}
