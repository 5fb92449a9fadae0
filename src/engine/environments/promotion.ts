/** Promotions as they are stored and shown. */
import { type Detail, oneFault } from '../../foundation/errors.ts'
import { mapInTurns } from '../../foundation/event-loop-turns.ts'
import { appendChange } from '../core/append-change.ts'
import { readNewest, sizeOf } from '../core/created-at-page.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Page, PageArgs } from '../core/page.ts'
import type { Scope } from '../core/scope.ts'
import type { Promotion as Row } from '../prisma/client.ts'
import { requirePermission } from '../storage/access/access.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { NewSecret, RecordsRewritten } from './apply-edits.ts'
import { type Kept, type ShownEdit, shown, shownDrafts } from './edits.ts'
import { type PromotionEdits, readEdits, storeEdits, textsOf } from './promotion-edits.ts'
import type { Conflict } from './three-way.ts'

export type Promotion = {
  /** Null where nothing was to be promoted: the history has no entry of it. */
  id: string | null
  kind: 'promotion' | 'rollback'
  from: string
  baseId: string
  status: 'applied' | 'rolled_back'
  changes: readonly ShownEdit[]
  /** What production had changed too, where `force` took the preview. */
  conflicts: readonly Conflict[]
  createdBy: string | null
  /** The name of its token then; null once that is purged. */
  createdByName: string | null
  createdAt: string
  /** What the preview deleted, and stays without `prune`. Only in the response to the promotion. */
  kept?: readonly Kept[]
  /** What breaks for clients that were generated from the GraphQL schema of production. Only in the response to the promotion. */
  warnings?: readonly string[]
  /** How many records migrations rewrote. Only in the response to the promotion. */
  recordsRewritten?: RecordsRewritten
  /** Secrets of resources that are new in production. Only in the response to the promotion. */
  secrets?: readonly NewSecret[]
}

/** What a promotion would change, and what prevents it. */
export type Proposal = {
  from: string
  baseId: string
  changes: readonly ShownEdit[]
  summary: Record<ShownEdit['op'], number>
  /** What production has changed too, in another way. A promotion needs `force` to replace it. */
  conflicts: readonly Conflict[]
  /** What production holds, or lacks, that the changes do not fit, with counts and samples. */
  breaks: readonly Detail[]
  /** Of a change-set: what was looked at. */
  revision?: number
  /** Of a preview of configuration: the hash of what was looked at. */
  hash?: string
  /** What the preview deleted, and stays without `prune`. */
  kept?: readonly Kept[]
  /** What breaks for clients that were generated from the GraphQL schema of production. */
  warnings?: readonly string[]
  /** How many records migrations would rewrite. */
  recordsRewritten?: RecordsRewritten
}

/** A promotion without its changes. */
const headOf = (row: Row) => ({
  id: row.id,
  kind: row.kind as Promotion['kind'],
  from: row.fromBase,
  baseId: row.baseId,
  status: row.status as Promotion['status'],
  createdBy: row.createdBy,
  createdAt: row.createdAt.toISOString(),
})
type Head = ReturnType<typeof headOf>

/** A promotion that is in the history. */
type StoredPromotion = Promotion & { id: string }

const AUTHORS = statement(
  'authors_of_promotions',
  `SELECT id, actor_name FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = 'promotion' AND id = ANY ($2::text[])
     AND operation = 'create'`,
)

async function readAuthors(db: Db, baseId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows =
    ids.length > 0 ? await db.query<{ id: string; actor_name: string }>(AUTHORS, [baseId, ids]) : []
  return new Map(rows.map(({ id, actor_name }) => [id, actor_name]))
}

async function toPromotion(
  scope: Scope,
  row: Row,
  past: PromotionEdits | undefined,
  createdByName: string | null = null,
): Promise<StoredPromotion> {
  const { createdBy, createdAt, ...head } = headOf(row)
  const changes = await mapInTurns(past?.edits ?? [], (edit) => withMark(shown(edit), edit))
  const drafts = past?.drafts ?? []
  for (const [n, edit] of (await shownDrafts(scope, row.baseId, drafts)).entries())
    changes.push(withMark(edit, drafts[n] ?? {}))
  return { ...head, changes, conflicts: past?.conflicts ?? [], createdBy, createdByName, createdAt }
}

const withMark = (edit: ShownEdit, { rolledBack }: { readonly rolledBack?: boolean }): ShownEdit =>
  rolledBack ? { ...edit, rolled_back: true } : edit

type Entry = Pick<Row, 'id' | 'baseId' | 'kind' | 'fromBase'> & PromotionEdits

/** Stores a promotion or rollback, and logs it. */
export async function storePromotion(
  scope: Scope,
  { edits, conflicts, drafts = [], ...entry }: Entry,
): Promise<Promotion> {
  const past: PromotionEdits = { edits, conflicts, drafts }
  const texts = await textsOf(past)
  const row = await scope.db.orm.promotion.create({
    data: {
      ...entry,
      status: 'applied',
      bytes: texts.reduce((sum, { length }) => sum + length, 0),
      createdBy: scope.actor.tokenId ?? scope.actor.name,
    },
  })
  // The answer is made while the database stores the edits. Both end before the transaction does: each reads or writes in it.
  const [stored, made] = await Promise.allSettled([
    storeEdits(scope.db, row, texts),
    toPromotion(scope, row, past, scope.actor.name),
  ])
  if (stored.status === 'rejected') throw stored.reason
  if (made.status === 'rejected') throw made.reason
  await logPromotion(scope, headOf(row), 'create')
  return made.value
}

/** A promotion without changes, which the history does not keep. */
export const nothingPromoted = (
  { actor }: Scope,
  { baseId, kind, fromBase }: Entry & Pick<Promotion, 'kind'>,
): Promotion => ({
  ...{ id: null, kind, from: fromBase, baseId, status: 'applied' },
  ...{ changes: [], conflicts: [], createdBy: actor.tokenId ?? actor.name },
  createdByName: actor.name,
  createdAt: new Date().toISOString(),
})

/** Marks a promotion as rolled back, and logs it. */
export async function markRolledBack(scope: Scope, baseId: string, id: string): Promise<void> {
  const where = { baseId_id: { baseId, id } }
  const row = await scope.db.orm.promotion.update({ where, data: { status: 'rolled_back' } })
  await logPromotion(scope, headOf(row), 'update')
}

/** Logs a promotion. Its changes have entries of their own, whose cause it is. */
const logPromotion = (scope: Scope, state: Head, operation: 'create' | 'update'): Promise<void> =>
  appendChange(scope, {
    baseId: state.baseId,
    kind: 'promotion',
    id: state.id,
    operation,
    version: operation === 'create' ? 1 : 2,
    state,
  })

/**
 * Lists the promotions and rollbacks of a base, newest first.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function listPromotions(scope: Scope, baseId: string, args: PageArgs): Promise<Page<Promotion>> {
  requirePermission(scope.access, 'read', baseId, '*')
  const page = readNewest(scope, `promotions of ${baseId}`, args)
  const size = (row: Row) => sizeOf(row) + Number(row.bytes)
  const [rows, total] = await page.find<Row>(scope.db.orm.promotion, { baseId }, size)
  if (rows.length === 0) await requireBase(scope, baseId)
  // The last row only says that there is one more.
  const shownRows = rows.slice(0, page.limit)
  const ids = shownRows.map(({ id }) => id)
  const past = await readEdits(scope.db, baseId, ids)
  const authors = await readAuthors(scope.db, baseId, ids)
  const promotions: StoredPromotion[] = []
  for (const row of rows)
    promotions.push(await toPromotion(scope, row, past.get(row.id), authors.get(row.id)))
  return page.of(promotions, total)
}

/**
 * Reads a promotion or rollback.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function getPromotion(scope: Scope, baseId: string, id: string): Promise<Promotion> {
  requirePermission(scope.access, 'read', baseId, '*')
  const row = await scope.db.orm.promotion.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) {
    const authors = await readAuthors(scope.db, baseId, [id])
    return toPromotion(scope, row, (await readEdits(scope.db, baseId, [id])).get(id), authors.get(id))
  }
  await requireBase(scope, baseId)
  throw promotionNotFound('/id', id)
}

export const promotionNotFound = (path: string, id: string) =>
  oneFault('NOT_FOUND', `There is no promotion "${id.slice(0, 64)}".`, {
    path,
    code: 'promotion_not_found',
    message: 'List the promotions of the base.',
  })
