/** How far change-sets are, and what they change, as lists of previews show them. */
import DataLoader from 'dataloader'
import type { ChangeSetStatus } from '../../../contract/change-set-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import type { Access } from '../../storage/access/access.ts'
import { statement, timed } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'

export type ChangeSetState = {
  title: string | null
  status: ChangeSetStatus
  /** When it was merged, rejected or expired. */
  closedAt: string | null
  /** Rises with each request that changes a draft. */
  revision: number
  createdBy: string | null
  createdByName: string
  /** The last write. */
  writtenAt: string
  /** Numbers of records and relationships, of the types that the caller may read. */
  counts: { create: number; update: number; delete: number }
  /** Of the present revision, for the whole. */
  approvals: { needed: number; given: number }
}

// `$2` has for each change-set the types to count, a JSON list; null counts all.
const STATES = timed(
  statement(
    'change_set_states',
    `SELECT c.base_id, c.title, c.status, c.revision, c.token_id, c.actor_name, c.written_at, c.closed_at, n.*,
     plinth_draft.approvals_needed(c.base_id) AS needed,
     (SELECT count(DISTINCT a.who)::int FROM plinth_draft.approvals(c.base_id) a WHERE a.resources IS NULL) AS given
   FROM unnest((SELECT $1::text[]), (SELECT $2::jsonb[])) AS k (id, types) JOIN plinth.change_set c ON c.base_id = k.id COLLATE "C"
   CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE d.base_version IS NULL)::int AS creates,
       count(*) FILTER (WHERE d.base_version IS NOT NULL AND NOT d.gone)::int AS updates, count(*) FILTER (WHERE d.gone)::int AS deletes
     FROM (
       SELECT r.base_version, r.gone FROM plinth.draft_record r WHERE r.branch = c.base_id AND plinth_draft.differs(r)
         AND (k.types IS NULL OR k.types ? r.record_type)
       UNION ALL
       SELECT l.base_version, l.gone FROM plinth.draft_relationship l WHERE l.branch = c.base_id AND plinth_draft.differs(l)
         AND (k.types IS NULL OR k.types ?& ARRAY[l.source_record_type, l.target_record_type])) d) n`,
  ),
)
type Row = {
  base_id: string
  title: string | null
  status: ChangeSetStatus
  closed_at: string | null
  revision: number
  token_id: string | null
  actor_name: string
  written_at: string
  creates: number
  updates: number
  deletes: number
  needed: number
  given: number
}

const loaders = new WeakMap<Scope, DataLoader<string, ChangeSetState | null>>()

/** The state of a change-set; null for another base. Those of one answer share a statement. */
export function changeSetState(scope: Scope, id: string): Promise<ChangeSetState | null> {
  const known = loaders.get(scope) ?? new DataLoader((ids) => readStates(scope, ids), { cache: false })
  loaders.set(scope, known)
  return known.load(id)
}

async function readStates({ db, access }: Scope, ids: readonly string[]): Promise<(ChangeSetState | null)[]> {
  const rows = await db.query<Row>(STATES, [ids, ids.map((id) => readableTypes(access, id))])
  const found = new Map(rows.map((row) => [row.base_id, toState(row)]))
  return ids.map((id) => found.get(id) ?? null)
}

/** The types that the caller reads in a change-set and in production, as JSON; null for all of them. */
function readableTypes(access: Access, id: string): string | null {
  const types = [id, productionOf(id)].map((base) => access.types('read', base))
  const [some, ...others] = types.filter((each) => each !== '*')
  return some ? JSON.stringify([...some].filter((type) => others.every((each) => each.has(type)))) : null
}

const toState = (row: Row): ChangeSetState => ({
  ...{ title: row.title, status: row.status, revision: row.revision, closedAt: row.closed_at },
  ...{ createdBy: row.token_id, createdByName: row.actor_name, writtenAt: row.written_at },
  counts: { create: row.creates, update: row.updates, delete: row.deletes },
  approvals: { needed: row.needed, given: row.given },
})
