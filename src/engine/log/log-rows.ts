/** The clauses that append log rows. Every write of a record or a resource appends with one of them, in its statement. */
import { CAUSE } from './entry.ts'

/** Author columns of the change log. */
const AUTHOR_COLUMNS = 'token_id, actor_name, via, actor_kind, request_id, call'

/**
 * The values of the author columns, from expressions for what `authorship(scope)` has: `via` is a word, and the kind of the actor
 * follows it unless that is a program.
 */
export const authorOf = (token: string, name: string, via: string, request: string, call: string): string =>
  `${token}, ${name}, split_part(${via}, ' ', 1), nullif(split_part(${via}, ' ', 2), ''), ${request}, ${call}`

/** The values of the author columns, bound to `authorship(scope)` from parameter `first` on. */
export const authorAt = (first: number): string =>
  authorOf(`$${first}`, `$${first + 1}`, `$${first + 2}`, `$${first + 3}`, `$${first + 4}::jsonb`)

/** Expressions of SQL for the columns of a log row. */
type LogRow = {
  readonly operation: string
  /** The values of the author columns. */
  readonly author: string
  readonly version?: string
  /** What made the write; without it, or if it is null, the cause of the transaction. */
  readonly cause?: string | undefined
}

const causeOf = (cause: string | undefined): string =>
  cause === undefined ? CAUSE : `coalesce(${cause}, ${CAUSE})`

/** Appends a log row for each row of `from`, which has the columns of a record and is named `w`. */
export const logRecords = ({
  operation,
  author,
  from = 'w',
  version = 'w.version',
  cause,
}: LogRow & {
  readonly from?: string
}): string => `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, created_at, ${AUTHOR_COLUMNS}, cause)
     SELECT w.base_id, 'record', w.record_type, w.id, ${operation}, ${version}, w.data, w.external_source, w.external_id,
       w.cancelled_at, w.created_at, ${author}, ${causeOf(cause)} FROM ${from}`

type Resource = LogRow & {
  readonly base?: string
  readonly kind: string
  readonly id: string
  /** The state of the resource. */
  readonly data: string
  readonly from: string
}

/** Appends a log row for each row of `from`: of a link, a file or another resource, of the base `$1` unless it says another. */
export const logResources = ({
  base = '$1',
  kind,
  id,
  operation,
  version = 'version',
  data,
  author,
  cause,
  from,
}: Resource): string => `INSERT INTO plinth.change (base_id, kind, id, operation, version, data, ${AUTHOR_COLUMNS}, cause)
     SELECT ${[base, kind, id, operation, version, data, author, causeOf(cause)].join(', ')} FROM ${from}`

/**
 * Appends entries of another base to the log of `$1`, in the order of `from`: rows `i` with the columns of an entry. They keep their
 * times and authors, without the tokens of these, and draw new numbers.
 */
export const importedEntries = (
  id: string,
  data: string,
  from: string,
): string => `INSERT INTO plinth.change (base_id, at, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, created_at, ${AUTHOR_COLUMNS}, cause)
     SELECT $1, i.at, i.kind, i.record_type, ${id}, i.operation, i.version, ${data}, i.external_source, i.external_id,
       i.cancelled_at, i.created_at, NULL, i.actor_name, i.via, i.actor_kind, i.request_id, i.call, i.cause FROM ${from}`
