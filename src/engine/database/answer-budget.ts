import type { RowCap } from './capped-query.ts'

/**
 * Accounts for bytes held in memory for a response.
 * @throws RATE_LIMITED when the token or the process exceeds its memory quota
 */
export type Hold = (bytes: number) => void

const HOLD_STEP = 1024 * 1024

/** Response size limit: the bytes of rows that one request may read, per page and in total. */
export class AnswerBudget {
  #left: number
  readonly #page: number
  readonly #hold: Hold | undefined
  #unheld = 0

  constructor(page: number, inAll: number, hold?: Hold) {
    this.#page = page
    this.#left = inAll
    this.#hold = hold
  }

  /** Row cap for one page, or for a `part` of it. The first `atLeast` rows always pass. */
  page({ part = 1, atLeast = 1 } = {}): RowCap {
    const most = this.#page * part
    let bytes = 0
    let rows = 0
    return {
      take: (row) => {
        if (rows >= atLeast && (bytes + row > most || row > this.#left)) return false
        rows++
        bytes += row
        this.#left -= row
        this.#count(row)
        return true
      },
    }
  }

  /** Bytes left for a page, for statements that limit the number of rows in the database. */
  get room(): number {
    return Math.max(0, Math.min(this.#page, this.#left))
  }

  /** Charges the rows that a write returns. Never rejects: the write has already decided to return them. */
  spend(bytes: number): void {
    this.#left -= bytes
  }

  /** Reports bytes in steps of HOLD_STEP, so that small responses skip the accounting. */
  #count(row: number): void {
    this.#unheld += row
    if (!this.#hold || this.#unheld < HOLD_STEP) return
    this.#hold(this.#unheld)
    this.#unheld = 0
  }
}
