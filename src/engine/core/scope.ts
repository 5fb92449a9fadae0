/** Request scope: who asks, with which rights, on which connection and services. */
import type { Access } from '../access/access.ts'
import type { Actor, Session } from '../access/session.ts'
import type { ChangeFeed } from '../change-log/open-feed.ts'
import type { AnswerBudget } from '../database/answer-budget.ts'
import type { CappedRows } from '../database/capped-query.ts'
import type { Closed, Db, Statement } from '../database/client.ts'
import type { Together } from '../record-store/request-batching.ts'
import type { SqlRunner } from '../sql/execution/runner.ts'
import type { Caches } from './caches.ts'
import type { Waits } from './long-poll.ts'
import type { Lens } from './policy.ts'
import type { SealKey } from './sealed-token.ts'

/** The surface or mechanism a write came through. */
export type Via =
  | 'rest'
  | 'mcp'
  | 'graphql'
  | 'inbound'
  | 'seed'
  | 'promotion'
  | 'action'
  | 'trigger'
  | 'system'

/** Who asks, with what rights, on which connection. Every engine function takes one. */
export type Scope = {
  readonly db: Db
  readonly caches: Caches
  readonly together: Together
  readonly feed: ChangeFeed
  readonly waits: Waits
  readonly access: Access
  /** What the scope is narrowed to; absent where it is not. */
  readonly lens?: Lens
  readonly actor: Actor
  /** What the caller was let in with; absent where the server itself acts. */
  readonly session?: Session
  readonly via: Via
  readonly requestId: string
  /** The server's own keys. */
  readonly keys: { readonly cursor: SealKey; readonly plan: SealKey }
  readonly limits: { readonly recordBytes: number; readonly batchBytes: number }
  /** The bytes that pages of this request may have. */
  readonly answer: AnswerBudget
  readonly sql: SqlRunner
  /** Aborts when the caller has gone away; absent where nobody waits, or where that must change nothing. */
  readonly closed?: Closed
}

/** The columns a write leaves behind about its author, in the order of the change log's. */
export const authorship = (scope: Scope) =>
  [scope.actor.tokenId, scope.actor.name, scope.via, scope.requestId] as const

/** Asks what somebody waits for: when they go, what lasts is stopped. Nothing is written by it. */
export const read = <Row>(
  { db, closed }: Scope,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> => db.query<Row>(statement, values, closed)

/** Reads the rows of a page, until they have the bytes that it may have. */
export const readPageRows = <Row>(
  { db, closed, answer }: Scope,
  statement: Statement,
  values: readonly unknown[],
  how: { part?: number; atLeast?: number } = {},
): Promise<CappedRows<Row>> => db.queryCapped<Row>(statement, values, answer.page(how), closed)
