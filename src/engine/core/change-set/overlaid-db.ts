/** The database as a change-set shows it: reads run on its overlay, and writes change drafts only. */
import type { ChangeSetStatus } from '../../../contract/change-set-shapes.ts'
import { DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { CappedRows, RowCap } from '../../storage/database/capped-query.ts'
import { type Closed, type Db, type Statement, statement } from '../../storage/database/client.ts'
import { violatedConstraint } from '../../storage/database/errors.ts'
import type { Snapshots } from '../../storage/database/snapshots.ts'
import { WrappedDb } from '../../storage/database/wrapped-db.ts'
import { ending } from '../write/dry-run.ts'
import { changeSetGone, requireOpen } from './lifecycle.ts'
import type { Opening, Settle } from './opening.ts'
import { overlaid } from './overlay.ts'

/** Holds the change-set, against other writers of it, and names it to the triggers that write drafts. */
const HOLD = statement('hold_change_set', 'SELECT plinth_draft.hold($1) AS status')
const IS_WRITTEN = statement('is_draft_written', 'SELECT plinth_draft.drafted() > 0 AS is_written')
const SAVEPOINT = /^(ROLLBACK TO )?SAVEPOINT (\w+)/

/**
 * The database through the change-set `id`. Each write is a transaction that holds it. `ofLog`: its difference is what the log
 * shows, for reads.
 */
export const overlaidDb = (db: Db, id: string, ofLog = false, opening?: Opening): Db =>
  new OverlaidDb(db, id, ofLog, opening)

/** Whole results of the change-set: each of one moment of its drafts and of production. */
export const overlaidSnapshots = (inner: Snapshots, id: string): Snapshots => ({
  ...inner,
  open: async (...asked) => {
    const snapshot = await inner.open(...asked)
    const rows: typeof snapshot.rows = (original, values, signal) => {
      const { statement, takesId } = overlaid(original, values.length)
      return snapshot.rows(statement, takesId ? [...values, id] : values, signal)
    }
    return { ...snapshot, db: overlaidDb(snapshot.db, id), rows }
  },
})

class OverlaidDb extends WrappedDb {
  protected readonly id: string
  protected readonly opening: Opening | undefined
  readonly #ofLog: boolean

  constructor(db: Db, id: string, ofLog: boolean, opening: Opening | undefined) {
    super(db)
    this.id = id
    this.opening = opening
    this.#ofLog = ofLog
  }
  override query<Row>(original: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]> {
    const { statement, needsLock, takesId } = overlaid(original, values.length, this.#ofLog)
    if (needsLock) return this.statements((tx) => tx.query<Row>(original, values))
    return super.query<Row>(statement, takesId ? [...values, this.id] : values, closed)
  }
  override queryCapped<Row>(
    original: Statement,
    values: readonly unknown[],
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>> {
    const { statement, takesId } = overlaid(original, values.length, this.#ofLog)
    return super.queryCapped<Row>(statement, takesId ? [...values, this.id] : values, cap, closed)
  }
  override transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#withRoom(super.transaction(work))
  }
  override statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#withRoom(super.statements(work))
  }
  protected override async within<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
    const inner = new OverlaidTransaction(tx, this.id, this.#ofLog, this.opening)
    return ending(work(inner), () => inner.settle())
  }
  /** @throws CONFLICT if what was written is too much, which the database says at the end of the transaction */
  async #withRoom<T>(done: Promise<T>): Promise<T> {
    try {
      return await done
    } catch (thrown) {
      throw isFull(thrown) ? full(this.id) : thrown
    }
  }
}

class OverlaidTransaction extends OverlaidDb {
  #isHeld = false
  #settle: Settle | undefined
  /** What a rollback to a savepoint leaves of the opening. */
  readonly #savepoints = new Map<string, Settle | undefined>()

  override async query<Row>(original: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { statement, needsLock, takesId } = overlaid(original, values.length)
    if (needsLock && !this.#isHeld) await this.#hold()
    const [, goesBack, savepoint] = SAVEPOINT.exec(original.text) ?? []
    if (savepoint !== undefined && goesBack) {
      // What was locked since the savepoint is free again.
      this.#isHeld = false
      this.#settle = this.#savepoints.get(savepoint)
    } else if (savepoint !== undefined) this.#savepoints.set(savepoint, this.#settle)
    try {
      return await this.inner.query<Row>(statement, takesId ? [...values, this.id] : values)
    } catch (thrown) {
      // Drafts have one writer at a time, so that this is no race.
      throw violatedConstraint(thrown) === 'draft_record_external' ? pairDrafted(thrown) : thrown
    }
  }
  override transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return work(this)
  }
  override statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return work(this)
  }
  async #hold(): Promise<void> {
    let status = await this.#statusHeld()
    if (!status && this.opening) {
      this.#settle = await this.opening.open(this.inner)
      status = await this.#statusHeld()
    }
    if (!status) throw changeSetGone(this.id)
    requireOpen(this.id, status)
    if (this.opening && !this.#settle) this.opening.isOpen = true
    this.#isHeld = true
  }
  async #statusHeld(): Promise<ChangeSetStatus | null | undefined> {
    const [row] = await this.inner.query<{ status: ChangeSetStatus | null }>(HOLD, [this.id])
    return row?.status
  }
  /** Settles the opening, if this transaction opened the change-set. */
  async settle(): Promise<void> {
    if (!this.opening || !this.#settle) return
    const [found] = await this.inner.query<{ is_written: boolean }>(IS_WRITTEN, [])
    const isWritten = found?.is_written ?? false
    await this.#settle(isWritten)
    this.opening.isOpen = isWritten
  }
}

/** By its message, since the ORM passes on no name of a constraint where COMMIT fails. */
const isFull = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message.includes('the change-set holds too much')

/** Production has given the pair of a draft to another record, which is to be a draft as well. */
const pairDrafted = (cause: unknown): DomainError =>
  new DomainError('CONFLICT', 'The external_id belongs to another record of the change-set.', {
    cause,
    details: [
      {
        path: '/external_id',
        code: 'duplicate_external_id',
        message:
          'The change-set and production have given this external_id with this external_source to two records. Discard the change of the other one, or send another external_id.',
      },
    ],
  })

function full(id: string): DomainError {
  const message = `A change-set holds at most ${LIMITS.changeSetRows} records and relationships, with ${LIMITS.changeSetBytes / 1024 / 1024} MiB of data. Promote "${id}", then open another one.`
  return oneFault('CONFLICT', message, { path: '/base_id', code: 'change_set_full' })
}
