/** Columns of a log entry with the state of a record. */
export type LoggedState = {
  operation: string
  data: unknown
  external_id: string | null
  external_source: string | null
  cancelled_at: Date | string | null
}

/**
 * The document that record diffs compare: the record after an entry; null after a deletion or without an
 * entry.
 */
export function recordDocument(entry: LoggedState | undefined): object | null {
  if (!entry || entry.operation === 'delete') return null
  return {
    data: entry.data,
    status: entry.cancelled_at ? 'cancelled' : 'active',
    external_id: entry.external_id,
    external_source: entry.external_source,
  }
}
