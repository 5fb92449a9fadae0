import DataLoader from 'dataloader'
import type { Db } from '../../storage/database/client.ts'
import { type SharedWrite, writeOne, writeTogether } from '../../storage/database/write-together.ts'
import { hasUnique } from '../indexes/index.ts'
import { type PlainWrite, plainWrite, type RecordKey } from './bulk-write.ts'
import {
  CREATE_MANY,
  CREATE_NEW,
  PUT_MANY,
  PUT_MANY_BY_PAIR,
  type PutRow,
  UNCHANGED_MANY,
  type WrittenRow,
} from './put.ts'
import { GET, GET_MANY } from './read-statements.ts'
import type { RecordRow } from './record.ts'

/**
 * DataLoader-style batching: concurrent requests share a statement. Collects the requests of one turn of the
 * event loop, or of two, and sends them at its end, so batching adds no delay. The caller checks permissions before.
 * A transaction bypasses batching.
 */
export type RequestBatching = {
  readRecord(key: RecordKey): Promise<RecordRow | undefined>
  /**
   * Creates or updates the record with the id, and keeps its pair. Undefined when another request creates it, or the
   * revision of its type is stale. The caller determines which.
   */
  putRecord(write: PlainWrite): Promise<PutRow | undefined>
  /** Creates the record with the pair under the id, or updates it. Undefined as for `putRecord`, and for one alone. */
  putRecordByPair(write: PlainWrite): Promise<PutRow | undefined>
  /** Creates. Undefined when the id or the pair is taken, or the revision of the type is stale. */
  createRecord(write: PlainWrite): Promise<WrittenRow | undefined>
  /** Creates under an id that the server has just made, without a pair. Undefined when the revision of the type is stale. */
  createNew(write: PlainWrite): Promise<WrittenRow | undefined>
  /** Runs another write, together with those of its kind. */
  write<Write, Row>(how: SharedWrite<Write, Row>, write: Write): Promise<Row | undefined>
}

/** The creation of a record, which a transaction runs alone. */
export const CREATING = plainWrite<WrittenRow>(CREATE_MANY, 'pairs')

const MAX_GROUP = 64
/**
 * Maximum data size of a record in a batch. Larger records, and records with unique indexes, are written
 * individually.
 */
export const MAX_GROUP_TEXT = 16 * 1024

/** The second turn has what arrived while the first was at work. */
const inTwoTurns = (flush: () => void) => void setImmediate(() => setImmediate(flush))

/** Reads and writes use separate shares of the pool, because writes may wait for locks. */
export function openRequestBatching(forReads: Db, forWrites: Db): RequestBatching {
  const options = {
    cache: false,
    maxBatchSize: MAX_GROUP,
    batchScheduleFn: (flush: () => void) => void setImmediate(flush),
  }
  const reads = new DataLoader<RecordKey, RecordRow | undefined>((keys) => readAll(forReads, keys), options)
  const loaders = new WeakMap<object, DataLoader<never, unknown>>()
  const write = <Write, Row>(how: SharedWrite<Write, Row>, one: Write): Promise<Row | undefined> => {
    const found = loaders.get(how) as DataLoader<Write, Row | undefined> | undefined
    const loader =
      found ??
      new DataLoader<Write, Row | undefined>(
        (all) => writeTogether(forWrites, how, all),
        how.isSlowToArrive ? { ...options, batchScheduleFn: inTwoTurns } : options,
      )
    if (!found) loaders.set(how, loader)
    return loader.load(one)
  }
  const writeRecord =
    <Row extends WrittenRow>(how: SharedWrite<PlainWrite, Row>) =>
    (one: PlainWrite) =>
      hasUnique(one.type) || one.text.length > MAX_GROUP_TEXT
        ? writeOne(forWrites, how, one)
        : write(how, one)
  return {
    readRecord: (key) => reads.load(key),
    putRecord: writeRecord(plainWrite<PutRow>(PUT_MANY, undefined, UNCHANGED_MANY)),
    putRecordByPair: writeRecord(plainWrite<PutRow>(PUT_MANY_BY_PAIR, 'own pairs')),
    createRecord: writeRecord(CREATING),
    createNew: writeRecord(plainWrite<WrittenRow>(CREATE_NEW)),
    write,
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
