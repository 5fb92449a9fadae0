import { demandSight } from '../access.ts'
import { demandBase } from '../bases/index.ts'
import { readNewest } from '../newest.ts'
import type { Page, PageArgs } from '../page.ts'
import type { Prisma } from '../prisma/client.ts'
import type { Scope } from '../scope.ts'
import {
  type RelationshipType,
  relationshipTypeNotFound,
  shownTo,
  toRelationshipType,
} from './relationship-type.ts'

/** The relationship types of the base that the token may read, newest first. */
export async function listRelationshipTypes(
  scope: Scope,
  baseId: string,
  args: PageArgs,
): Promise<Page<RelationshipType>> {
  demandSight(scope.access, baseId)
  const page = readNewest(scope, `relationship types of ${baseId}`, args)
  const where: Prisma.RelationshipTypeWhereInput = { baseId, ...readable(scope, baseId) }
  const [rows, total] = await Promise.all([
    page.rows(({ before, take, skip }) =>
      scope.db.orm.relationshipType.findMany({
        where: { AND: [where, before] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take,
        skip,
      }),
    ),
    page.includeTotal ? scope.db.orm.relationshipType.count({ where }) : null,
  ])
  if (rows.length === 0) await demandBase(scope, baseId)
  return page.of(
    rows.flatMap((row) => shownTo(scope.access, toRelationshipType(row)) ?? []),
    total,
  )
}

/** The types with a readable record type at either end: what `shownTo` shows. */
function readable(scope: Scope, baseId: string): Pick<Prisma.RelationshipTypeWhereInput, 'AND' | 'id'> {
  const types = scope.access.types('read', baseId)
  if (types === '*') return {}
  if (types.size === 0) return { id: { in: [] } }
  const named = { hasSome: ['*', ...types] }
  return { AND: [{ sourceRecordTypes: named }, { targetRecordTypes: named }] }
}

/** @throws FORBIDDEN without sight of the base; NOT_FOUND when base or type is absent, or the type is out of the grants */
export async function getRelationshipType(
  scope: Scope,
  baseId: string,
  id: string,
): Promise<RelationshipType> {
  demandSight(scope.access, baseId)
  const row = await scope.db.orm.relationshipType.findUnique({ where: { baseId_id: { baseId, id } } })
  const shown = row && shownTo(scope.access, toRelationshipType(row))
  if (shown) return shown
  await demandBase(scope, baseId)
  throw relationshipTypeNotFound(id)
}
