import type { CappedRows, RowCap } from './capped-query.ts'
import type { Statement } from './client.ts'

/** A read that waits for a connection, and those that asked the same meanwhile. */
type WaitingRead = {
  found?: PromiseWithResolvers<CappedRows<unknown> | null>
  /** The bytes of each row, if others want them too. */
  readonly sizes: number[]
}

/** How a read is done: calls `begins` when it has a connection and before it sends its statement. */
export type CappedRead<Row> = {
  readonly run: (cap: RowCap, begins: () => void) => Promise<CappedRows<Row>>
  /** Whether its client is gone, which stops it. */
  readonly isGone: () => boolean
}

/**
 * The reads of one token that wait for a connection, by what they ask. An equal read that comes meanwhile gets the
 * rows of the first: its statement has not been sent, so it sees whatever was acknowledged before. The rows then
 * belong to several requests, and none changes them.
 */
export class EqualReads {
  readonly #waiting = new Map<string, WaitingRead>()

  async read<Row>(
    { name, text }: Statement,
    values: readonly unknown[],
    cap: RowCap,
    how: CappedRead<Row>,
  ): Promise<CappedRows<Row>> {
    const key = `${name || text}\n${JSON.stringify(values)}`
    for (let equal = this.#waiting.get(key); equal; equal = this.#waiting.get(key)) {
      equal.found ??= Promise.withResolvers()
      const found = (await equal.found.promise) as CappedRows<Row> | null
      if (found) return within(cap, found, equal.sizes)
    }
    const own: WaitingRead = { sizes: [] }
    this.#waiting.set(key, own)
    return await this.#readFirst(key, own, cap, how)
  }

  async #readFirst<Row>(
    key: string,
    own: WaitingRead,
    cap: RowCap,
    { run, isGone }: CappedRead<Row>,
  ): Promise<CappedRows<Row>> {
    const counting = { take: (bytes: number) => cap.take(bytes) && own.sizes.push(bytes) > 0 }
    try {
      const found = await run(counting, () => void this.#waiting.delete(key))
      own.found?.resolve(found)
      return found
    } catch (thrown) {
      if (this.#waiting.get(key) === own) this.#waiting.delete(key)
      // One of those that wait has to read, if only the client of this one is gone.
      if (isGone()) own.found?.resolve(null)
      else own.found?.reject(thrown)
      throw thrown
    }
  }
}

function within<Row>(cap: RowCap, found: CappedRows<Row>, sizes: readonly number[]): CappedRows<Row> {
  const cut = sizes.findIndex((size) => !cap.take(size))
  return cut < 0 ? found : { rows: found.rows.slice(0, cut), isCut: true }
}
