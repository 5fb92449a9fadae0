import { snakeFields } from '../../contract/field-names.ts'
import type { Access } from '../access/access.ts'
import { type DiffStep, diffOf } from './diff.ts'
import { type LoggedState, recordDocument } from './record-document.ts'

/** Everything that entries of a base's log can be about. Tokens and secrets stand in the account's log. */
export const KINDS = [
  'record',
  'relationship',
  'file',
  'attachment',
  'token',
  'secret',
  'base',
  'promotion',
  'record_type',
  'relationship_type',
  'file_type',
  'trigger',
  'inbound_webhook',
  'endpoint',
  'toolset',
  'action',
  'seed',
] as const
export type Kind = (typeof KINDS)[number]

/** An entry of the change log. */
export type Change = {
  /** Rises within a base, with gaps. */
  seq: number
  at: string
  actor: { tokenId: string | null; name: string; via: string }
  requestId: string
  kind: Kind
  /** Of a record's entry; otherwise null. */
  recordType: string | null
  id: string
  operation: 'create' | 'update' | 'cancel' | 'delete' | 'restore'
  version: number
  /** RFC 6902, from the entry before of the same thing. */
  diff: readonly DiffStep[]
  /** The change, delivery or run behind it. */
  cause: string | null
  /** The types a token must be able to read, all of them, to see the entry; `'*'` is the base as a whole. */
  needs: readonly string[]
}

/** A row of the log beside the state before it, as `read.ts` selects them. */
export type ChangeRow = LoggedState & {
  seq: number
  at: string
  kind: Kind
  record_type: string | null
  id: string
  operation: Change['operation']
  version: number
  token_id: string | null
  actor_name: string
  via: string
  request_id: string
  cause: string | null
  before: LoggedState | null
}

export function toChange(row: ChangeRow): Change {
  return {
    seq: row.seq,
    at: row.at,
    actor: { tokenId: row.token_id, name: row.actor_name, via: row.via },
    requestId: row.request_id,
    kind: row.kind,
    recordType: row.record_type,
    id: row.id,
    operation: row.operation,
    version: row.version,
    diff:
      row.operation === 'delete' ? GONE : diffOf(documentOf(row.kind, row.before), documentOf(row.kind, row)),
    cause: row.cause,
    needs: needsOf(row),
  }
}

/** May the token see the entry? What it may not see is as if it had not happened. */
export const mayRead = (access: Access, baseId: string, { needs }: Change): boolean =>
  needs.every((type) => access.allows('read', baseId, type))

const GONE: readonly DiffStep[] = [{ op: 'remove', path: '' }]

/** What diffs compare: of a record what `recordDocument` says, of all else the whole state. */
function documentOf(kind: Kind, state: LoggedState | null): object | null {
  if (!state || state.operation === 'delete') return null
  return kind === 'record' ? recordDocument(state) : snakeFields(state.data as State)
}

type State = Readonly<Record<string, unknown>>

function needsOf({ kind, record_type: recordType, id, data, before }: ChangeRow): readonly string[] {
  // A base is seen with any grant on it.
  if (kind === 'base') return []
  if (kind === 'record_type') return [id]
  if (recordType !== null) return [recordType]
  const states = [data, before?.data].filter((state) => state != null) as State[]
  if (kind === 'relationship' && states.length > 0) return states.flatMap(endsOfLink)
  if (kind === 'relationship_type' && states.length > 0) return states.flatMap(endsOfLinkType)
  return ['*']
}

const endsOfLink = (state: State): string[] => [
  String(state['source_record_type']),
  String(state['target_record_type']),
]

/** All types that it names: its diff would name them too. */
const endsOfLinkType = (state: State): string[] =>
  ['sourceRecordTypes', 'targetRecordTypes']
    .flatMap((end) => state[end] as string[])
    .filter((type) => type !== '*')
