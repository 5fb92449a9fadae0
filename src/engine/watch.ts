import { setMaxListeners } from 'node:events'
import type pg from 'pg'
import { LIMITS } from '../foundation/limits.ts'
import { abandoned } from './sql-errors.ts'
import type { Stops } from './stops.ts'

/**
 * Watches for the caller of a read to go, from when the read lasts: most are over before anybody has listened for it. What
 * runs then is cancelled, and what waits for a connection is not begun.
 */
export class Watch {
  readonly #stops: Stops
  readonly #timer: NodeJS.Timeout
  #closed: AbortSignal | undefined
  #client: pg.PoolClient | undefined
  #told: Promise<void> | undefined

  constructor(closed: () => AbortSignal, stops: Stops) {
    this.#stops = stops
    this.#timer = setTimeout(() => this.#listen(closed()), LIMITS.watchAfterMs)
  }
  get isGone(): boolean {
    return this.#closed?.aborted ?? false
  }
  /** @throws where the caller has gone before there was a connection */
  runsOn(client: pg.PoolClient): void {
    if (this.isGone) throw abandoned()
    this.#client = client
  }
  /** Resolves when the database has been told what it was to be told: nothing else that the client runs is cancelled. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed?.removeEventListener('abort', this.#stop)
    await this.#told
  }
  #listen(closed: AbortSignal): void {
    this.#closed = closed
    // One request may ask many things at once.
    setMaxListeners(0, closed)
    closed.addEventListener('abort', this.#stop)
    if (closed.aborted) this.#stop()
  }
  readonly #stop = (): void => {
    if (this.#client) this.#told ??= this.#stops.cancel(this.#client)
  }
}
