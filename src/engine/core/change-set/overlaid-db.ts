/** The database as a change-set shows it: reads run on its overlay, and writes change drafts only. */
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { overlaid } from './overlay.ts'

/** Holds the change-set, against other writers of it, and names it to the triggers that write drafts. */
const HOLD = statement(
  'hold_change_set',
  `SELECT status, set_config('plinth.change_set', base_id, true) FROM plinth.change_set WHERE base_id = $1 FOR NO KEY UPDATE`,
)
const MEASURE = statement(
  'measure_change_set',
  `SELECT count(*)::int AS rows, coalesce(sum(bytes), 0)::float8 AS bytes FROM (
     SELECT pg_column_size(data) AS bytes FROM plinth.draft_record WHERE branch = $1
     UNION ALL SELECT pg_column_size(data) FROM plinth.draft_relationship WHERE branch = $1) d`,
)
const RELEASES = /^ROLLBACK TO /

/** The database through the change-set `id`. Each write is a transaction that holds it. */
export function overlaidDb(db: Db, id: string): Db {
  const within = async <T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> => {
    const inner = overlaidTransaction(tx, id)
    const done = await work(inner.db)
    await inner.check()
    return done
  }
  const own: Db = {
    isTransaction: db.isTransaction,
    get orm() {
      return db.orm
    },
    query: (original, values, closed) => {
      const { statement, needsLock, takesId } = overlaid(original, values.length)
      if (needsLock) return own.statements((tx) => tx.query(original, values))
      return db.query(statement, takesId ? [...values, id] : values, closed)
    },
    queryCapped: (original, values, cap, closed) => {
      const { statement, takesId } = overlaid(original, values.length)
      return db.queryCapped(statement, takesId ? [...values, id] : values, cap, closed)
    },
    transaction: (work) => db.transaction((tx) => within(tx, work)),
    statements: (work) => db.statements((tx) => within(tx, work)),
    retry: (work) => db.retry(work),
  }
  return own
}

function overlaidTransaction(tx: Db, id: string): { db: Db; check(): Promise<void> } {
  let isHeld = false
  let isWritten = false
  const hold = async () => {
    const [row] = await tx.query<{ status: string }>(HOLD, [id])
    if (!row) throw new DomainError('NOT_FOUND', `There is no change-set "${id}" any more.`)
    if (row.status !== 'open') throw closed(id, row.status)
    isHeld = true
    isWritten = true
  }
  const db: Db = {
    isTransaction: true,
    get orm() {
      return tx.orm
    },
    query: async (original, values) => {
      const { statement, needsLock, takesId } = overlaid(original, values.length)
      if (needsLock && !isHeld) await hold()
      // What was locked since the savepoint is free again.
      if (RELEASES.test(original.text)) isHeld = false
      return tx.query(statement, takesId ? [...values, id] : values)
    },
    queryCapped: (original, values, cap) => {
      const { statement, takesId } = overlaid(original, values.length)
      return tx.queryCapped(statement, takesId ? [...values, id] : values, cap)
    },
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return {
    db,
    check: async () => {
      if (!isWritten) return
      const [size] = await tx.query<{ rows: number; bytes: number }>(MEASURE, [id])
      if (size && (size.rows > LIMITS.changeSetRows || size.bytes > LIMITS.changeSetBytes)) throw full(id)
    },
  }
}

function closed(id: string, status: string): DomainError {
  const message = `The change-set "${id}" is ${status}. Open another one.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/base_id', code: 'change_set_closed', message }],
  })
}

function full(id: string): DomainError {
  const message = `A change-set holds at most ${LIMITS.changeSetRows} records and relationships, with ${LIMITS.changeSetBytes / 1024 / 1024} MiB of data. Promote "${id}", then open another one.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/base_id', code: 'change_set_full', message }],
  })
}
