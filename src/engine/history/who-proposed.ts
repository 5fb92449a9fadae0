/** Who proposed what a promotion of a change-set wrote. Who let it pass is the actor of the entry. */
import DataLoader from 'dataloader'
import type { ActorKind } from '../../contract/shapes.ts'
import type { Scope } from '../core/scope.ts'
import type { Author } from '../log/entry.ts'
import { type PackedCall, type ToolCall, unpackCall } from '../log/tool-call.ts'
import { type Db, statement } from '../storage/database/client.ts'

export type Proposed = Omit<Author, 'via'> & { requestId: string; call: ToolCall | null }

// Each entry asks for its draft by key. As a join, new entries that no statistics know were read again for each draft.
const KEEP = statement(
  'keep_who_proposed',
  `INSERT INTO plinth.proposed_change (seq, base_id, token_id, actor_name, actor_kind, request_id, call)
   SELECT c.seq, c.base_id, d.token_id, d.actor_name, d.actor_kind, d.request_id, d.call
   FROM plinth.change c CROSS JOIN LATERAL (
     SELECT * FROM plinth.draft_change d
     WHERE d.branch = $2 AND d.kind = c.kind AND d.record_type = coalesce(c.record_type, '') AND d.id = c.id LIMIT 1) d
   WHERE c.base_id = $1 AND c.seq > $3 AND c.xid = pg_current_xact_id() AND c.kind IN ('record', 'relationship')`,
)
const LAST = statement(
  'last_seq_before_merge',
  'SELECT coalesce(max(seq), 0)::text AS seq FROM plinth.change WHERE base_id = $1',
)
const FIND = statement(
  'who_proposed',
  `SELECT seq::float8 AS seq, base_id, token_id, actor_name, actor_kind, request_id, call FROM plinth.proposed_change
   WHERE seq = ANY ($1::bigint[])`,
)
const SWEEP = statement(
  'sweep_who_proposed',
  `DELETE FROM plinth.proposed_change p
   WHERE base_id = $1 AND NOT EXISTS (SELECT FROM plinth.change c WHERE c.base_id = p.base_id AND c.seq = p.seq)`,
)
type Row = {
  seq: number
  base_id: string
  token_id: string | null
  actor_name: string
  actor_kind: ActorKind | null
  request_id: string
  call: PackedCall | null
}

/** Runs a merge, and keeps who proposed the entries that it writes, while the drafts are there. */
export async function keepingWhoProposed(
  tx: Db,
  { baseId, from }: { baseId: string; from: string },
  merge: () => Promise<void>,
): Promise<void> {
  const [last] = await tx.query<{ seq: string }>(LAST, [baseId])
  await merge()
  await tx.query(KEEP, [baseId, from, last?.seq ?? 0])
}

/** Removes what is left of entries that are purged. */
export const sweepWhoProposed = (db: Db, baseId: string): Promise<unknown> => db.query(SWEEP, [baseId])

const loaders = new WeakMap<Scope, DataLoader<number, Proposed | null>>()

/** Who proposed the change of an entry; null for one that no promotion wrote. Those of one answer share a statement. */
export function whoProposed(
  scope: Scope,
  { seq, actor, cause }: { seq: number; actor: Author; cause: string | null },
): Promise<Proposed | null> | null {
  if (actor.via !== 'promotion' || cause === null) return null
  const known = loaders.get(scope) ?? new DataLoader((seqs) => find(scope, seqs), { cache: false })
  loaders.set(scope, known)
  return known.load(seq)
}

async function find(scope: Scope, seqs: readonly number[]): Promise<(Proposed | null)[]> {
  const rows = await scope.db.query<Row>(FIND, [seqs])
  const found = new Map(rows.map((row) => [row.seq, toProposed(scope, row)]))
  return seqs.map((seq) => found.get(seq) ?? null)
}

/** A reader of a part of the base sees no tool calls of others, here as in the log. */
function toProposed({ access, actor }: Scope, row: Row): Proposed {
  const showsCall =
    (row.token_id !== null && row.token_id === actor.tokenId) || access.allows('read', row.base_id, '*')
  return {
    ...{ tokenId: row.token_id, name: row.actor_name, kind: row.actor_kind ?? 'program' },
    ...{ requestId: row.request_id, call: showsCall ? unpackCall(row.call) : null },
  }
}
