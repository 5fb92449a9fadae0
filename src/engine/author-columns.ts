/** The change log's columns about the author; a writing statement binds `authorship(scope)` to them. */
export const AUTHOR_COLUMNS = 'token_id, actor_name, via, request_id'

/** The columns of a record's entry in the change log, in the order every writing statement fills them. */
export const RECORD_LOG_COLUMNS = `base_id, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, created_at, ${AUTHOR_COLUMNS}`
