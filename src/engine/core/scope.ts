/** Request scope: caller, rights, connection and services. */
import type { KeyObject } from 'node:crypto'
import type { Egress } from '../../foundation/egress/dispatcher.ts'
import type { Log } from '../../foundation/log.ts'
import type { RequestBatching } from '../data/ledger/request-batching.ts'
import type { CallRecorder } from '../log/calls/recorder.ts'
import type { Authorship, Viewer } from '../log/entry.ts'
import type { ChangeFeed } from '../log/open-feed.ts'
import { packCall, type ToolCall } from '../log/tool-call.ts'
import type { Access } from '../storage/access/access.ts'
import type { Actor, TokenSession } from '../storage/access/token-session.ts'
import type { BlobStore, Disk, StoredBlob } from '../storage/blobs/blob-store.ts'
import type { CappedRows, ResponseBudget } from '../storage/database/capped-query.ts'
import type { Closed, Db, Statement } from '../storage/database/client.ts'
import type { Snapshots } from '../storage/database/snapshots.ts'
import type { Freshness, StandbyHealth } from '../storage/database/standby.ts'
import type { Vault } from '../storage/vault/vault.ts'
import type { Caches } from './caches.ts'
import type { Opening } from './change-set/opening.ts'
import type { LongPolls } from './long-poll.ts'
import type { ScopePolicy } from './policy.ts'
import type { RunState } from './run-state.ts'
import type { SealKey } from './sealed-token.ts'
import type { SlowLists } from './slow-lists.ts'

/** The surface or mechanism that a write came through. */
export type Via =
  | 'rest'
  | 'mcp'
  | 'graphql'
  | 'inbound'
  | 'seed'
  | 'promotion'
  | 'action'
  | 'trigger'
  | 'explorer'
  | 'system'

/** What a scope's rights depend on besides the token. */
export type Standing = {
  /** Whether cached state proves that it is unchanged. */
  isCurrent(): boolean
  /** @throws FORBIDDEN if it changed */
  recheck(scope: Scope): Promise<void>
}

/** A change of configuration, as fields of its kind; null where the resource is absent. */
export type TypeEdit = {
  readonly kind: string
  readonly id: string
  readonly before: object | null
  readonly next: object | null
}

/**
 * What changes of types, made in one transaction, break for clients that were generated from the GraphQL schema of
 * the base: warnings. The GraphQL layer, which has the schemas, gives it.
 */
export type ClientBreaks = (
  scope: Scope,
  baseId: string,
  edits: readonly TypeEdit[],
) => Promise<readonly string[]>

/** The administrator's token of this server. */
type ServerToken = {
  /** Undefined if the file of the data directory holds one that is not valid. */
  id: string | undefined
  /** The token of the last rotation, which may not have committed yet. */
  next?: string
  /** True if `PLINTH_ADMIN_TOKEN` sets it. */
  readonly isSetting: boolean
  /** Writes another one to the file of the data directory. */
  readonly replace: (token: string) => void
}

/** How the backups of the server are. */
export type BackupHealth = {
  /** `held`: a restored copy makes none until it is released. */
  readonly state: 'ok' | 'failing' | 'stopped' | 'held'
  /** The end of the newest backup, and the last moment that can be restored. */
  readonly last_at: string | null
  readonly wal_to: string | null
  /** Why the last try failed. */
  readonly cause: string | undefined
  readonly everyHours: number
  /** At a place that is a directory. */
  readonly room: Disk | undefined
  readonly isOnDiskOfData: boolean
}

/** Services of the process, which all requests share. */
export type Services = {
  readonly caches: Caches
  readonly batching: RequestBatching
  readonly feed: ChangeFeed
  readonly calls: CallRecorder
  readonly longPolls: LongPolls
  readonly snapshots: Snapshots
  /** Secret keys of the server. */
  readonly keys: { readonly cursor: SealKey; readonly link: SealKey; readonly s3: KeyObject }
  readonly limits: {
    readonly recordBytes: number
    readonly batchBytes: number
    /** Changes in an hour up to which no token is paused; 0: none ever is. */
    readonly pauseAbove: number
  }
  /** Runs SQL. The wing of SQL, which is above, knows the rest of it. `off`: it is switched off. */
  readonly sql: { isolation(): string }
  readonly slowLists: SlowLists
  /** Variables of the environment that look like settings, and are none. */
  readonly unknownSettings: readonly string[]
  /** Undefined: this process makes no backups. */
  readonly backupHealth: (() => Promise<BackupHealth>) | undefined
  /** Undefined: there is no standby to read on. */
  readonly standbyHealth: (() => StandbyHealth) | undefined
  readonly blobs: BlobStore
  readonly vault: Vault
  /** Sends requests to addresses that users chose. */
  readonly egress: Egress
  readonly serverToken: ServerToken
  readonly breakingChanges: ClientBreaks
  /** The kinds of configuration, each after those that it refers to. The lifecycle, which is below them, knows their type. */
  readonly kinds: readonly { readonly name: string }[]
  /** The address of this server, for links. */
  readonly publicUrl: () => string
  /** The address of its S3 gateway. */
  readonly s3Endpoint: () => string
  /** The log of the process, for failures that no answer reports. */
  readonly log: Log
}

/** Caller, rights, connection and services of a request. Every engine function takes one. */
export type Scope = Services & {
  readonly db: Db
  /** How recent reads on a standby must be; absent where there is none. */
  readonly freshness?: Freshness
  readonly access: Access
  /** The policy that restricts the scope, if any. */
  readonly policy?: ScopePolicy
  /** The endpoint that the scope is at, for requests that waited. */
  readonly standing?: Standing
  readonly actor: Actor
  /** The caller's session; absent when the server itself acts. */
  readonly session?: TokenSession
  readonly via: Via
  readonly requestId: string
  /** The MCP tool call that runs, if any. */
  readonly call?: ToolCall
  /** Bytes left for the batches of this request: a GraphQL document may hold several. */
  readonly batches: { left: number }
  /** The writes of this request: how many began, and of how many `changes` counts what they changed. */
  readonly writes: { begun: number; counted: number; changes: number }
  /** Byte limit of the pages of this request. */
  readonly answer: ResponseBudget
  /**
   * Contents that this request has stored, by their sha256. A write may refer to these only: a digest alone gives no
   * access to a content.
   */
  readonly received: Map<string, StoredBlob>
  /** The delivery of an inbound webhook whose signature was checked; absent in other requests. */
  readonly delivery?: object
  /** The change-set that the request reads and writes, by its id; absent in others. */
  readonly changeSet?: string
  /** What the token may propose at an endpoint: its rights there hold no more than reads. Absent elsewhere. */
  readonly proposal?: { readonly baseId: string; readonly access: Access; readonly policy: ScopePolicy }
  /** Set where the rules of the token judge a write before its commit. What they refuse is proposed, so no refusal is final. */
  readonly byRules?: true
  /** How its first write opens it; absent where it was there before. */
  readonly opening?: Opening
  /** The run of an action that this request makes; absent in others. */
  readonly run?: RunState
  /** The file that a request imports a base from, once it is checked; absent in others. */
  readonly importing?: object
  /** The place of a SQL request that writes; absent in others. */
  readonly sqlPlace?: object
  /**
   * Aborts when the client disconnects; absent when there is no client, or when a disconnect must have no
   * effect.
   */
  readonly closed?: Closed
  /** Aborts when the caller takes the request back. A write whose steps take long ends before the next one. */
  readonly withdrawn?: Closed
}

/** Author columns of a write, in the order of the change log. */
export const authorship = (scope: Scope): Authorship => [
  scope.actor.tokenId,
  scope.actor.name,
  scope.actor.kind === undefined || scope.actor.kind === 'program'
    ? scope.via
    : `${scope.via} ${scope.actor.kind}`,
  scope.requestId,
  packCall(scope.call),
]

/** The reader of the change log. */
export const viewerOf = ({ access, actor }: Scope): Viewer => ({ access, tokenId: actor.tokenId })

/** Runs a read for a client; cancels it if the client disconnects. Must not write. */
export const read = <Row>(
  { db, closed }: Scope,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> => db.query<Row>(statement, values, closed)

/** Reads the rows of a page, up to its byte limit. */
export const readPageRows = <Row>(
  { db, closed, answer }: Scope,
  statement: Statement,
  values: readonly unknown[],
  how: { part?: number; atLeast?: number } = {},
): Promise<CappedRows<Row>> => db.queryCapped<Row>(statement, values, answer.page(how), closed)
