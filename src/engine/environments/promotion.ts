/** Promotions as they are stored and shown. */
import { DomainError } from '../../foundation/errors.ts'
import { requirePermission } from '../access/access.ts'
import { kindNamed } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { appendChange } from '../core/append-change.ts'
import { readNewest } from '../core/created-at-page.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Page, PageArgs } from '../core/page.ts'
import type { Scope } from '../core/scope.ts'
import type { Promotion as Row } from '../prisma/client.ts'
import { type Edit, type NewSecret, type ShownEdit, shown } from './edits.ts'
import type { Conflict } from './three-way.ts'

export type Promotion = {
  id: string
  kind: 'promotion' | 'rollback'
  from: string
  baseId: string
  status: 'applied' | 'rolled_back'
  changes: readonly ShownEdit[]
  /** What production had changed too, where `force` took the preview. */
  conflicts: readonly Conflict[]
  createdBy: string | null
  createdAt: string
  /** Secrets of resources that are new in production. Only in the answer of the act. */
  secrets?: readonly NewSecret[]
}

/** An edit in the history. `origin`: what the log says of a resource beyond its definition. */
type StoredEdit = {
  kind: string
  id: string
  before: Definition | null
  after: Definition | null
  origin?: object
}
export type PastEdit = Edit & { readonly origin?: object }

export const editsOf = ({ edits }: Row): PastEdit[] =>
  (edits as unknown as StoredEdit[]).map((edit) => ({ ...edit, kind: kindNamed(edit.kind) }))

export const toPromotion = (row: Row): Promotion => ({
  id: row.id,
  kind: row.kind as Promotion['kind'],
  from: row.fromBase,
  baseId: row.baseId,
  status: row.status as Promotion['status'],
  changes: editsOf(row).map(shown),
  conflicts: row.conflicts as unknown as Conflict[],
  createdBy: row.createdBy,
  createdAt: row.createdAt.toISOString(),
})

type Entry = Pick<Row, 'id' | 'baseId' | 'kind' | 'fromBase'> & {
  edits: readonly PastEdit[]
  conflicts: readonly Conflict[]
}

/** Stores a promotion or rollback, and logs it. */
export async function storePromotion(
  scope: Scope,
  { edits, conflicts, ...entry }: Entry,
): Promise<Promotion> {
  const stored = edits.map(({ kind, ...edit }): StoredEdit => ({ ...edit, kind: kind.name }))
  const row = await scope.db.orm.promotion.create({
    data: {
      ...entry,
      status: 'applied',
      edits: stored as never,
      conflicts: conflicts as never,
      createdBy: scope.actor.tokenId ?? scope.actor.name,
    },
  })
  const promotion = toPromotion(row)
  await logPromotion(scope, promotion, 'create')
  return promotion
}

/** Logs a promotion. Its changes have entries of their own, whose cause it is. */
export const logPromotion = (
  scope: Scope,
  { changes: _, conflicts: __, ...state }: Promotion,
  operation: 'create' | 'update',
): Promise<void> =>
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
  const { promotion } = scope.db.orm
  const rows = await page.rows(({ before, take, skip }) =>
    promotion.findMany({
      where: { baseId, AND: before },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take,
      skip,
    }),
  )
  if (rows.length === 0) await requireBase(scope, baseId)
  const total = page.includeTotal ? await promotion.count({ where: { baseId } }) : null
  return page.of(rows.map(toPromotion), total)
}

/**
 * Reads a promotion or rollback.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function getPromotion(scope: Scope, baseId: string, id: string): Promise<Promotion> {
  requirePermission(scope.access, 'read', baseId, '*')
  const row = await scope.db.orm.promotion.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) return toPromotion(row)
  await requireBase(scope, baseId)
  throw promotionNotFound('/id', id)
}

export const promotionNotFound = (path: string, id: string) =>
  new DomainError('NOT_FOUND', `There is no promotion "${id.slice(0, 64)}".`, {
    details: [{ path, code: 'promotion_not_found', message: 'List the promotions of the base.' }],
  })
