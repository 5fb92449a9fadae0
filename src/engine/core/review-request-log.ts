/** Review requests as the log has them, and the end of pauses of tokens that cannot go on. */
import type { ReviewRequest as Row } from '../prisma/client.ts'
import { type Statement, statement } from '../storage/database/client.ts'
import { appendChanges, type LogEntry } from './append-change.ts'
import type { Scope } from './scope.ts'

type Logged = Pick<
  Row,
  'baseId' | 'id' | 'kind' | 'fromBase' | 'title' | 'note' | 'summary' | 'state' | 'decision' | 'asked'
>

export const requestEntry = (row: Logged, operation: 'create' | 'update' | 'delete'): LogEntry => ({
  ...{ baseId: row.baseId, kind: 'review_request', id: row.id, operation },
  version: operation === 'create' ? 1 : 2,
  state: {
    ...{ id: row.id, kind: row.kind, from: row.fromBase, title: row.title, note: row.note },
    ...{ summary: row.summary, state: row.state, decision: row.decision },
    ...(row.kind === 'pause' && { pause: row.asked }),
  },
})

/** Of a pause there is nothing left to decide where its token cannot go on. */
const ending = (name: string, which: string): Statement =>
  statement(
    name,
    `DELETE FROM plinth.review_request r WHERE kind = 'pause' AND state = 'open' AND ${which}
     RETURNING base_id AS "baseId", id, kind, from_base AS "fromBase", title, note, summary, state, decision, asked`,
  )
const END_OF_TOKENS = ending('end_pauses_of_tokens', 'token_id = ANY ($1::text[])')
const LIVES = (token: string): string =>
  `(${token}.expires_at IS NULL OR ${token}.expires_at > now() OR ${token}.id IN (SELECT token_id FROM plinth.person))`
// The token of a person goes on at the next sign-in, and that of a client when it is refreshed. One of an issuer has no row.
const END_OF_EXPIRED = ending(
  'end_pauses_of_expired_tokens',
  `token_id NOT LIKE 'oauth:%' AND NOT EXISTS (
     SELECT FROM plinth.token t WHERE t.id = r.token_id AND (${LIVES('t')} OR EXISTS (
       SELECT FROM plinth.oauth_authorization a JOIN plinth.token g ON g.id = a.granted_by
       WHERE a.token_id = t.id AND (a.ends_at IS NULL OR a.ends_at > now()) AND ${LIVES('g')})))`,
)

/** Ends the pauses of tokens that are deleted, in the transaction of the scope. */
export const endPausesOf = (scope: Scope, tokens: readonly string[]) => end(scope, END_OF_TOKENS, [tokens])

export const endPausesOfExpired = (scope: Scope) => end(scope, END_OF_EXPIRED, [])

async function end(scope: Scope, statement: Statement, values: readonly unknown[]): Promise<void> {
  const ended = await scope.db.query<Logged>(statement, values)
  if (ended.length === 0) return
  await appendChanges(
    scope,
    ended.map((row) => requestEntry(row, 'delete')),
  )
}
