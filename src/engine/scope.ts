import type { Access } from './access.ts'
import type { Caches } from './caches.ts'
import type { CursorKey } from './cursor.ts'
import type { Db } from './db.ts'
import type { Together } from './records/together.ts'
import type { SqlRunner } from './sql/runner.ts'

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
  readonly access: Access
  readonly actor: { readonly tokenId: string | null; readonly name: string }
  readonly via: Via
  readonly requestId: string
  /** The server's own keys. */
  readonly keys: { readonly cursor: CursorKey }
  readonly limits: { readonly recordBytes: number }
  readonly sql: SqlRunner
  /** Aborts when the caller has gone away; absent where nobody waits. */
  readonly closed?: () => AbortSignal
}

/** The columns a write leaves behind about its author, in the order of the change log's. */
export const authorship = (scope: Scope) =>
  [scope.actor.tokenId, scope.actor.name, scope.via, scope.requestId] as const
