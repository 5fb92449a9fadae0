import type { RowCap } from './capped-query.ts'

/** Counts bytes that are held in memory for an answer. @throws RATE_LIMITED when the token or the process holds too many */
export type Hold = (bytes: number) => void

const HOLD_STEP = 1024 * 1024

/** The bytes of rows that one request may read into its answer: so many a page, and so many in all. */
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

  /** What one page may read, or a part of it. Its first rows always fit: one, where no more are needed. */
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

  /** The bytes that a page may have now, for what decides in the database how many rows there are to be. */
  get room(): number {
    return Math.max(0, Math.min(this.#page, this.#left))
  }

  /** Takes the room of rows that a write has decided to answer: nothing can refuse them any more. */
  spend(bytes: number): void {
    this.#left -= bytes
  }

  /** In steps: small answers are not counted one by one. */
  #count(row: number): void {
    this.#unheld += row
    if (!this.#hold || this.#unheld < HOLD_STEP) return
    this.#hold(this.#unheld)
    this.#unheld = 0
  }
}
