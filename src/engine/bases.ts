import { isDeepStrictEqual } from 'node:util'
import { check, inBody } from '../check.ts'
import { DomainError, invalid } from '../errors.ts'
import { ID_RULES, isBaseId, isProductionBaseId, productionOf } from '../ids.ts'
import { BaseBody } from '../shapes.ts'
import { demand, demandSight } from './access.ts'
import { announce } from './caches.ts'
import { ACCOUNT, appendChange } from './changes.ts'
import { confirmFirst } from './confirm.ts'
import { statement } from './db.ts'
import { checkVersion, type Expectation } from './expectation.ts'
import { dropIndexes } from './indexes/index.ts'
import { enqueue } from './jobs/enqueue.ts'
import { readNewest } from './newest.ts'
import type { Page, PageArgs } from './page.ts'
import { planned, tellOfBases } from './plans/index.ts'
import type { Base as BaseRow, Prisma } from './prisma/client.ts'
import type { Scope } from './scope.ts'
import { withdrawBase } from './tokens.ts'
import type { WriteScope } from './write.ts'

type BaseSettings = {
  schema_changes: 'direct' | 'preview_only'
  /** Days that history is kept; null for ever. */
  history_days: number | null
  trash_days: number
}
export type Base = {
  id: string
  name: string
  description: string | null
  environment: 'production' | 'preview'
  productionBase: string | null
  settings: BaseSettings
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}
export type BaseInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  settings?: unknown
}

const DEFAULT_SETTINGS: BaseSettings = { schema_changes: 'direct', history_days: null, trash_days: 30 }

const toBase = (row: BaseRow): Base => ({
  id: row.id,
  name: row.name,
  description: row.description,
  environment: row.environment as Base['environment'],
  productionBase: row.productionBase,
  settings: row.settings as BaseSettings,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The bases the token has any grant on, newest first. */
export async function listBases(scope: Scope, args: PageArgs): Promise<Page<Base>> {
  const page = readNewest(scope, 'bases', args)
  const where = visibleBases(scope)
  const rows = await scope.db.orm.base.findMany({
    where: { ...where, AND: page.before },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: page.limit + 1,
    skip: page.offset,
  })
  const total = page.includeTotal ? await scope.db.orm.base.count({ where }) : null
  return page.of(rows.map(toBase), total)
}

/** The predicate of access.ts `sees`, as a condition. */
function visibleBases(scope: Scope): Prisma.BaseWhereInput {
  // Of no conditions an OR holds in some places and not in others.
  if (scope.access.grants.length === 0) return { id: { in: [] } }
  const each = scope.access.grants.map((grant): Prisma.BaseWhereInput => {
    const named = typeof grant.base === 'string' ? [grant.base] : [...grant.base]
    return {
      ...(!named.includes('*') && { OR: [{ id: { in: named } }, { productionBase: { in: named } }] }),
      ...(grant.environment !== '*' && { environment: grant.environment }),
    }
  })
  // To the ORM an empty condition inside OR is false, not true.
  return each.some((condition) => Object.keys(condition).length === 0) ? {} : { OR: each }
}

/** @throws FORBIDDEN without a grant on it, NOT_FOUND when there is none. */
export async function getBase(scope: Scope, id: string): Promise<Base> {
  demandSight(scope.access, id)
  const row = await scope.db.orm.base.findUnique({ where: { id } })
  if (!row) throw baseNotFound(id)
  return toBase(row)
}

/** How many things the base holds, of those the token may read. */
export async function countBase(
  scope: Scope,
  id: string,
): Promise<{ record_types: number; records: number }> {
  const types = scope.access.types('read', id)
  const only = types === '*' ? undefined : { in: [...types] }
  const [recordTypes, records] = await Promise.all([
    scope.db.orm.recordType.count({ where: { baseId: id, ...(only && { id: only }) } }),
    scope.db.orm.record.count({ where: { baseId: id, ...(only && { recordType: only }) } }),
  ])
  return { record_types: recordTypes, records }
}

/** Creates the base or replaces its name, description and settings; what is left out returns to its default. */
export async function putBase(
  scope: WriteScope,
  id: string,
  input: BaseInput,
  expected: Expectation,
): Promise<Base> {
  demand(scope.access, 'manage', id, '*')
  const { name = id, description = null, settings } = check(BaseBody, dropNulls(input), inBody())
  const next = { name, description, settings: { ...DEFAULT_SETTINGS, ...settings } as BaseSettings }
  if (!isBaseId(id))
    throw invalid({
      path: '/id',
      code: 'invalid_id',
      message: `A base id is ${ID_RULES.base}.`,
      received: id,
    })
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await tx.query(LOCK_BASE_ID, [id])
    const held = await tx.orm.base.findUnique({ where: { id } })
    checkVersion(expected, held?.version, `base "${id}"`)
    if (!held) return createBase(within, id, next)
    const same = isDeepStrictEqual(next, {
      name: held.name,
      description: held.description,
      settings: held.settings,
    })
    if (same) return { ...toBase(held), operation: 'unchanged' }
    const row = await tx.orm.base.update({
      where: { id },
      data: { ...next, version: { increment: 1 }, updatedAt: new Date() },
    })
    await record(within, row, 'update')
    if (next.settings.history_days !== null) await enqueue(tx, 'purge_history', { base: id }, `purge:${id}`)
    return { ...toBase(row), operation: 'updated' }
  })
}

async function createBase(
  scope: WriteScope,
  id: string,
  next: { name: string; description: string | null; settings: BaseSettings },
): Promise<Base> {
  if (!isProductionBaseId(id))
    throw invalid({
      path: '/id',
      code: 'invalid_id',
      message: 'A preview is made from its base, not put.',
      received: id,
    })
  const row = await scope.db.orm.base.create({
    data: { id, ...next, environment: 'production' },
  })
  await record(scope, row, 'create')
  return { ...toBase(row), operation: 'created' }
}

const LOCK_BASE_ID = statement(
  'lock_base_id',
  `SELECT pg_advisory_xact_lock(hashtextextended('base:' || $1, 0))::text`,
)
const HOLDS_RECORDS = statement(
  'base_holds_records',
  'SELECT 1 AS one FROM plinth.record WHERE base_id = $1 LIMIT 1',
)
// Before the records that they hold on to.
const CLEAR_LINKS = statement('clear_base_links', 'DELETE FROM plinth.relationship WHERE base_id = $1')
const CLEAR_LOG = statement('clear_base_log', 'DELETE FROM plinth.change WHERE base_id = $1')

/** Deletes the base with all it holds, its previews included. One with records wants `confirm` equal to its id. */
export async function deleteBase(
  scope: WriteScope,
  id: string,
  confirm: string | null,
  expected: Expectation,
) {
  demand(scope.access, isProductionBaseId(id) ? 'admin' : 'manage', id, '*')
  demand(scope.access, 'read', productionOf(id), '*')
  return planned(scope, async (within, told) => {
    const { db: tx } = within
    await tx.query(LOCK_BASE_ID, [id])
    const held = await tx.orm.base.findUnique({ where: { id } })
    if (!held) throw baseNotFound(id)
    checkVersion(expected, held.version, `base "${id}"`)
    const previews = await tx.orm.base.findMany({ where: { productionBase: id } })
    await tellOfBases(within, [held, ...previews])
    told()
    for (const member of [...previews.map((preview) => preview.id), id]) {
      if (!scope.planning && confirm !== id && (await tx.query(HOLDS_RECORDS, [member])).length > 0)
        throw confirmFirst(id, `Base "${id}" holds records`, 'the base')
      await dropIndexes(tx, member, null)
      await tx.query(CLEAR_LINKS, [member])
      await tx.orm.base.delete({ where: { id: member } })
      await tx.query(CLEAR_LOG, [member])
      await announce(tx, `base:${member}`)
      scope.onCommit(() => scope.caches.forget(`base:${member}`))
      await withdrawBase(within, member)
    }
    // The base's own log went with it; that it was deleted is told at the account.
    await appendChange(within, {
      baseId: ACCOUNT,
      kind: 'base',
      id,
      operation: 'delete',
      version: held.version + 1,
      state: toBase(held),
    })
    return { id, deleted: true }
  })
}

/** GraphQL sends null for what is left out. */
const dropNulls = ({ name, description, settings }: BaseInput) => ({
  ...(name != null && { name }),
  ...(description !== undefined && { description }),
  ...(settings != null && { settings }),
})

const record = (scope: Scope, row: BaseRow, operation: 'create' | 'update') =>
  appendChange(scope, {
    baseId: row.id,
    kind: 'base',
    id: row.id,
    operation,
    version: row.version,
    state: toBase(row),
  })

const FIND_BASE = statement('find_base', 'SELECT 1 AS one FROM plinth.base WHERE id = $1')

/** @throws NOT_FOUND when there is no such base */
export async function demandBase(scope: Scope, id: string): Promise<void> {
  if ((await scope.db.query(FIND_BASE, [id])).length === 0) throw baseNotFound(id)
}

export const baseNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no base "${id}".`, {
    details: [
      { path: '/base_id', code: 'base_not_found', message: 'GET /v1/bases lists the bases this token sees.' },
    ],
  })
