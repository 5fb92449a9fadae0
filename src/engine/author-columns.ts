/** The change log's columns about the author; a writing statement binds `authorship(scope)` to them. */
export const AUTHOR_COLUMNS = 'token_id, actor_name, via, request_id'
