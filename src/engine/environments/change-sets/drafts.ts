/** The drafts of a change-set beside what production has now. */
import { productionOf } from '../../../contract/ids.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Db, statement } from '../../storage/database/client.ts'

/** What a merge compares: of a record its data, status and pair; of a link also its ends. */
export type Document = Readonly<Record<string, unknown>> & { readonly data: unknown }

/** A draft that differs from what it overrides. Null where there is none. */
export type Draft = {
  readonly kind: 'record' | 'relationship'
  /** Of a record: its type. Of a link: the record types of its ends are in its documents. */
  readonly type: string
  readonly id: string
  /** What production had at the first touch. */
  readonly base: Document | null
  readonly preview: Document | null
  /** Is `base` itself where production has not changed since. */
  readonly production: Document | null
  readonly productionVersion: number | null
  /** Of a part, some fields of the draft: what stays. */
  readonly rest?: Document | null
}

type Row = Omit<Draft, 'productionVersion' | 'rest'> & {
  production_version: number | null
  is_moved: boolean
}

/** Of production what is not the base of the draft, which few are: they are neither sent nor compared again. */
const PRODUCTION = `CASE WHEN p.content IS DISTINCT FROM d.base THEN p.content END AS production,
     p.content IS DISTINCT FROM d.base AS is_moved`

const RECORDS = statement(
  'read_drafts',
  `SELECT 'record' AS kind, d.record_type AS type, d.id, d.base, CASE WHEN NOT d.gone THEN plinth_draft.content(d) END AS preview,
     ${PRODUCTION}, r.version AS production_version
   FROM plinth.draft_record d LEFT JOIN plinth.record r ON r.base_id = d.base_id AND r.record_type = d.record_type AND r.id = d.id
   CROSS JOIN LATERAL (
     SELECT CASE WHEN r.id IS NOT NULL THEN plinth_draft.content(r.data, r.cancelled_at, r.external_source, r.external_id) END
       AS content OFFSET 0) p
   WHERE d.branch = $1 AND plinth_draft.differs(d)
   ORDER BY d.record_type, d.id`,
)
const LINKS = statement(
  'read_link_drafts',
  `SELECT 'relationship' AS kind, d.rel_type AS type, d.id, d.base, CASE WHEN NOT d.gone THEN plinth_draft.content(d) END AS preview,
     ${PRODUCTION}, l.version AS production_version
   FROM plinth.draft_relationship d LEFT JOIN plinth.relationship l ON l.base_id = d.base_id AND l.id = d.id
   CROSS JOIN LATERAL (
     SELECT CASE WHEN l.id IS NOT NULL THEN jsonb_build_object('rel_type', l.rel_type, 'source_record_type', l.source_record_type,
       'source_id', l.source_id, 'target_record_type', l.target_record_type, 'target_id', l.target_id, 'data', l.data,
       'external_source', l.external_source, 'external_id', l.external_id) END AS content OFFSET 0) p
   WHERE d.branch = $1 AND plinth_draft.differs(d)
   ORDER BY d.source_row, d.rel_type, d.target_row`,
)

export async function readDrafts(db: Db, id: string): Promise<Draft[]> {
  const rows = [...(await db.query<Row>(RECORDS, [id])), ...(await db.query<Row>(LINKS, [id]))]
  return rows.map(({ production_version: productionVersion, is_moved: isMoved, ...row }) => ({
    ...row,
    ...{ productionVersion, production: isMoved ? row.production : row.base },
  }))
}

/** Those that the caller may read, in the change-set and in production. Of others nobody learns that they are there. */
export async function readSeenDrafts(
  { db, access }: Pick<Scope, 'db' | 'access'>,
  id: string,
): Promise<Draft[]> {
  const mayRead = (type: string) => [productionOf(id), id].every((each) => access.allows('read', each, type))
  return (await readDrafts(db, id)).filter((draft) => typesOf(draft).every(mayRead))
}

/** `deal/d1`, or the id of a link: how errors, answers and the history name it. */
export const nameOf = ({ kind, type, id }: Pick<Draft, 'kind' | 'type' | 'id'>): string =>
  kind === 'record' ? `${type}/${id}` : id

/** A draft as the edit of production that it is. */
export const asEdit = (draft: Draft) => ({
  ...{ kind: draft.kind, id: nameOf(draft) },
  ...{ before: draft.base, after: draft.preview },
})

/** The record types that a caller needs rights on to see or write it. */
export function typesOf({ kind, type, base, preview, production }: Draft): string[] {
  if (kind === 'record') return [type]
  const documents = [base, preview, production].filter((each) => each !== null)
  return documents.flatMap(endTypesOf)
}

/** A record type of production; undefined where it is gone. */
export const typeIfThere = (scope: Scope, baseId: string, type: string): Promise<CompiledType | undefined> =>
  requireType(scope, baseId, type).catch((thrown: unknown) => {
    if (thrown instanceof DomainError && thrown.details[0]?.code === 'record_type_not_found') return undefined
    throw thrown
  })

/** The record types at the ends of a link. */
export const endTypesOf = (link: Document): string[] => [
  String(link['source_record_type']),
  String(link['target_record_type']),
]

const LOCK_TYPES = statement(
  'lock_types_of_drafts',
  `SELECT 1 AS one FROM plinth.record_type t WHERE t.base_id = $2 AND t.id IN (
     SELECT d.record_type FROM plinth.draft_record d WHERE d.branch = $1) ORDER BY t.id FOR KEY SHARE`,
)
const LOCK_RECORDS = statement(
  'lock_drafted_records',
  `SELECT 1 AS one FROM plinth.draft_record d JOIN plinth.record r
     ON r.base_id = d.base_id AND r.record_type = d.record_type AND r.id = d.id
   WHERE d.branch = $1 ORDER BY r.record_type, r.id FOR UPDATE OF r`,
)
const LOCK_LINKS = statement(
  'lock_drafted_links',
  `SELECT 1 AS one FROM plinth.draft_relationship d JOIN plinth.relationship l ON l.base_id = d.base_id AND l.id = d.id
   WHERE d.branch = $1 ORDER BY l.source_row, l.rel_type, l.target_row FOR UPDATE OF l`,
)

/** Locks what the drafts override, in the order of all writers: types, then records, then links. */
export async function lockOverridden(tx: Db, id: string, baseId: string): Promise<void> {
  await tx.query(LOCK_TYPES, [id, baseId])
  await tx.query(LOCK_RECORDS, [id])
  await tx.query(LOCK_LINKS, [id])
}
