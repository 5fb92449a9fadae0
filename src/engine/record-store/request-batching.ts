import DataLoader from 'dataloader'
import type { Db } from '../database/client.ts'
import { hasUnique, type WriteStatement } from '../indexes/index.ts'
import { type PlainWrite, type RecordKey, writeAll, writeOne } from './bulk-write.ts'
import { CREATE_MANY, UPDATE_MANY, type WrittenRow } from './put-statements.ts'
import { GET, GET_MANY } from './read-statements.ts'
import type { RecordRow } from './record.ts'

/**
 * Requests that arrive together share a statement. What is asked in one turn of the event loop goes out at its end, so
 * nobody waits, and one alone goes alone. Permissions are asked before; a group never spans what is asked of them.
 * A transaction runs its statements itself.
 */
export type Together = {
  readRecord(key: RecordKey): Promise<RecordRow | undefined>
  /** Undefined when the record is absent, has this data, or its type has another revision: the caller finds out which. */
  updateRecord(write: PlainWrite): Promise<WrittenRow | undefined>
  /** Under an id the server has just made. Undefined when the type has another revision. */
  createRecord(write: PlainWrite): Promise<WrittenRow | undefined>
}

const MAX_GROUP = 64
/** Data of one record of a group, at most; larger ones go alone. So do those that a unique index may refuse. */
const MAX_GROUP_TEXT = 16 * 1024

/** Writes may wait for a lock, and reads never do: each has a part of the connections of its own. */
export function openTogether(forReads: Db, forWrites: Db): Together {
  const options = {
    cache: false,
    maxBatchSize: MAX_GROUP,
    batchScheduleFn: (flush: () => void) => void setImmediate(flush),
  }
  const reads = new DataLoader<RecordKey, RecordRow | undefined>((keys) => readAll(forReads, keys), options)
  const writes = (how: WriteStatement) => {
    const loader = new DataLoader<PlainWrite, WrittenRow | undefined>(
      (all) => writeAll(forWrites, how, all),
      options,
    )
    return (write: PlainWrite) =>
      hasUnique(write.type) || write.text.length > MAX_GROUP_TEXT
        ? writeOne(forWrites, how, write)
        : loader.load(write)
  }
  return {
    readRecord: (key) => reads.load(key),
    updateRecord: writes(UPDATE_MANY),
    createRecord: writes(CREATE_MANY),
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
