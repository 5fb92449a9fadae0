import { LRUCache } from 'lru-cache'

/** A named SQL statement; the server plans it once a connection. Values are always bound. */
export type Statement = {
  readonly name: string
  readonly text: string
  /** Times come as the API writes them: as dates they would cost more than all else of a row. */
  readonly timesAsText?: true
  /** JSON comes as the database has it, for who passes it on or reads little of it; not so in a transaction. */
  readonly jsonAsText?: true
  /** Its text follows from a request, which asks too much when it takes all its time. */
  readonly asked?: true
}

/** Gives a statement the name it is prepared and traced by. */
export const statement = (name: string, text: string): Statement => ({ name, text })

/** A statement whose times come as the API writes them. */
export const timed = (plain: Statement): Statement => ({ ...plain, timesAsText: true })

const MOST_NAMES = 300
const shapes = new LRUCache<string, Statement>({ max: 1000 })
let named = 0

/**
 * A statement whose text follows from a request: named from its second use on, so that a shape that is asked again is
 * parsed once a connection. A connection never forgets a name, so their number is bounded.
 */
export function shaped(text: string, how: { jsonAsText?: true } = {}): Statement {
  const known = shapes.get(text)
  if (known?.name) return known
  const name = known && named < MOST_NAMES ? `shape_${++named}` : ''
  const next: Statement = { name, text, timesAsText: true, asked: true, ...how }
  shapes.set(text, next)
  return next
}
