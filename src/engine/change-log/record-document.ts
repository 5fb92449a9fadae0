/** The columns of a record's entry in the log that say what the record was. */
export type LoggedState = {
  operation: string
  data: unknown
  external_id: string | null
  external_source: string | null
  cancelled_at: Date | string | null
}

/** What diffs of records compare: the record after an entry; null when the entry is its deletion, or there is none. */
export function recordDocument(entry: LoggedState | undefined): object | null {
  if (!entry || entry.operation === 'delete') return null
  return {
    data: entry.data,
    status: entry.cancelled_at ? 'cancelled' : 'active',
    external_id: entry.external_id,
    external_source: entry.external_source,
  }
}
