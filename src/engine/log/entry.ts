import { CONFIG_KINDS } from '../../contract/config-shapes.ts'
import { snakeFields } from '../../contract/field-names.ts'
import type { ActorKind } from '../../contract/shapes.ts'
import type { Access } from '../storage/access/access.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { type DiffStep, diffOf, type LoggedState, recordDocument, withBefore } from './diff.ts'
import { type PackedCall, type ToolCall, unpackCall } from './tool-call.ts'

/** Kinds of resources in the log of a base. Tokens and secrets are in the account's log. */
export const KINDS = [
  'record',
  'relationship',
  'file',
  'attachment',
  'token',
  'secret',
  'base',
  'promotion',
  'preview',
  'review_request',
  ...CONFIG_KINDS,
] as const
export type Kind = (typeof KINDS)[number]

export const OPERATIONS = ['create', 'update', 'cancel', 'delete', 'restore'] as const
export type Operation = (typeof OPERATIONS)[number]

/** Who made a change, and through which interface. */
export type Author = { tokenId: string | null; name: string; via: string; kind: ActorKind }

/** The columns of a log row that say who made the change. */
export type AuthorRow = {
  token_id: string | null
  actor_name: string
  via: string
  actor_kind: ActorKind | null
}
/** The names of these columns. */
export const AUTHOR = 'token_id, actor_name, via, actor_kind'
export const authorIn = (row: AuthorRow): Author => ({
  tokenId: row.token_id,
  name: row.actor_name,
  via: row.via,
  kind: row.actor_kind ?? 'program',
})

/** An entry of the change log. */
export type Change = {
  /** Increases within a base, with gaps. */
  seq: number
  at: string
  actor: Author
  requestId: string
  /** The MCP tool call that made it. */
  call: ToolCall | null
  kind: Kind
  /** Record type of a record's entry; otherwise null. */
  recordType: string | null
  id: string
  operation: Operation
  version: number
  /** RFC 6902 patch from the previous entry of the same resource. */
  diff: readonly DiffStep[]
  /** The id of the change, delivery or run that caused it. */
  cause: string | null
  /** The token sees the entry if it may read all of these types; `'*'` is the base as a whole. */
  needs: readonly string[]
}

/** The columns of a log row that say what was changed, by whom. */
export type EntryRow = AuthorRow & {
  seq: number
  at: string
  kind: Kind
  record_type: string | null
  id: string
  operation: Operation
  version: number
  request_id: string
  call: PackedCall | null
}

/** A log row joined with the state before it, as `read.ts` selects them. */
export type ChangeRow = LoggedState & EntryRow & { cause: string | null; before: LoggedState | null }

/** An entry without what the states before and after it add. */
export const toEntry = (row: EntryRow): Omit<Change, 'diff' | 'cause' | 'needs'> => ({
  seq: row.seq,
  at: row.at,
  actor: authorIn(row),
  requestId: row.request_id,
  call: unpackCall(row.call),
  kind: row.kind,
  recordType: row.record_type,
  id: row.id,
  operation: row.operation,
  version: row.version,
})

/** With `showsBefore`, each step of the diff also has the value that it replaces or removes. */
export function toChange(row: ChangeRow, showsBefore = false): Change {
  const before = row.operation === 'delete' ? deletedDocument(row) : documentOf(row.kind, row.before)
  const diff = row.operation === 'delete' ? GONE : diffOf(before, documentOf(row.kind, row))
  return {
    ...toEntry(row),
    diff: showsBefore && before ? withBefore(diff, before) : diff,
    cause: row.cause,
    needs: needsOf(row),
  }
}

/** Whether the token may see the entry. Hidden entries are omitted as if they did not exist. */
export const mayRead = (access: Access, baseId: string, { needs }: Change): boolean =>
  needs.every((type) => access.allows('read', baseId, type))

/** Who reads: the rights, and the token whose own calls it sees. */
export type Viewer = { readonly access: Access; readonly tokenId: string | null }

/**
 * Hides the tool call of another token from a reader of a part of the base: the names of tools and endpoints
 * show what else the base has.
 */
export function callFor<T extends Pick<Change, 'actor' | 'call'>>(
  { access, tokenId }: Viewer,
  baseId: string,
  change: T,
): T {
  const isShown =
    change.call === null ||
    (tokenId !== null && change.actor.tokenId === tokenId) ||
    access.allows('read', baseId, '*')
  return isShown ? change : { ...change, call: null }
}

const GONE: readonly DiffStep[] = [{ op: 'remove', path: '' }]

/** What a deletion took, which its own entry has; null once it is purged. */
const deletedDocument = (row: ChangeRow): object | null =>
  row.data === null ? null : documentOf(row.kind, { ...row, operation: 'update' })

/** The document to diff: `recordDocument` for a record, otherwise the complete state. */
function documentOf(kind: Kind, state: LoggedState | null): object | null {
  if (!state || state.operation === 'delete') return null
  if (kind === 'record') return recordDocument(state)
  if (kind !== 'record_type' || state.data === null) return snakeFields(state.data as State)
  // Its migration says how the type was changed, and is no part of the type.
  const { migration: _, ...definition } = state.data as State
  return snakeFields(definition)
}

type State = Readonly<Record<string, unknown>>

function needsOf({ kind, record_type: recordType, id, data, before }: ChangeRow): readonly string[] {
  // Any grant on a base makes it visible.
  if (kind === 'base') return []
  if (kind === 'record_type') return [id]
  if (recordType !== null) return [recordType]
  const states = [data, before?.data].filter((state) => state != null) as State[]
  if (kind === 'relationship' && states.length > 0) return states.flatMap(endsOfLink)
  if (kind === 'attachment' && states.length > 0) return states.map((state) => String(state['recordType']))
  if (kind === 'relationship_type' && states.length > 0) return states.flatMap(endsOfLinkType)
  return ['*']
}

const endsOfLink = (state: State): string[] => [
  String(state['source_record_type']),
  String(state['target_record_type']),
]

/** All record types that a relationship type names, because its diff contains them. */
const endsOfLinkType = (state: State): string[] =>
  ['sourceRecordTypes', 'targetRecordTypes']
    .flatMap((end) => state[end] as string[])
    .filter((type) => type !== '*')

const SET_CAUSE = statement('set_cause', `SELECT set_config('plinth.cause', $1, true)`)

/** Sets the cause of the transaction's log entries: the id of a change, delivery or run. */
export async function setCause(tx: Db, cause: string): Promise<void> {
  await tx.query(SET_CAUSE, [cause])
}

/** What the cause of changes begins with that a seed made; its id follows. */
export const SEED_CAUSE = 'seed:'

/** The cause of the transaction as SQL. It is also the default of the column. */
export const CAUSE = "nullif(current_setting('plinth.cause', true), '')"

/** What the author columns are written from. `via` has the kind of the actor too, unless that is a program: `mcp agent`. */
export type Authorship = readonly [
  tokenId: string | null,
  name: string,
  via: string,
  requestId: string,
  call: string | null,
]
