import { demand } from '../access.ts'
import { demandBase } from '../bases/index.ts'
import { readNewest } from '../newest.ts'
import type { Page, PageArgs } from '../page.ts'
import type { Scope } from '../scope.ts'
import { type Endpoint, endpointNotFound, toEndpoint } from './endpoint.ts'
import { type Toolset, toolsetNotFound, toToolset } from './toolset.ts'

const NEWEST = [{ createdAt: 'desc' }, { id: 'desc' }] as const

/** The endpoints of the base, newest first. @throws FORBIDDEN without a grant on the base as a whole */
export async function listEndpoints(scope: Scope, baseId: string, args: PageArgs): Promise<Page<Endpoint>> {
  demand(scope.access, 'read', baseId, '*')
  const page = readNewest(scope, `endpoints of ${baseId}`, args)
  const { endpoint } = scope.db.orm
  const [rows, total] = await Promise.all([
    page.rows(({ before, take, skip }) =>
      endpoint.findMany({ where: { AND: [{ baseId }, before] }, orderBy: [...NEWEST], take, skip }),
    ),
    page.includeTotal ? endpoint.count({ where: { baseId } }) : null,
  ])
  if (rows.length === 0) await demandBase(scope, baseId)
  return page.of(rows.map(toEndpoint), total)
}

/** @throws FORBIDDEN without a grant on the base as a whole; NOT_FOUND */
export async function getEndpoint(scope: Scope, baseId: string, id: string): Promise<Endpoint> {
  demand(scope.access, 'read', baseId, '*')
  const row = await scope.db.orm.endpoint.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) return toEndpoint(row)
  await demandBase(scope, baseId)
  throw endpointNotFound(id)
}

/** The toolsets of the base, newest first. @throws FORBIDDEN without a grant on the base as a whole */
export async function listToolsets(scope: Scope, baseId: string, args: PageArgs): Promise<Page<Toolset>> {
  demand(scope.access, 'read', baseId, '*')
  const page = readNewest(scope, `toolsets of ${baseId}`, args)
  const { toolset } = scope.db.orm
  const [rows, total] = await Promise.all([
    page.rows(({ before, take, skip }) =>
      toolset.findMany({ where: { AND: [{ baseId }, before] }, orderBy: [...NEWEST], take, skip }),
    ),
    page.includeTotal ? toolset.count({ where: { baseId } }) : null,
  ])
  if (rows.length === 0) await demandBase(scope, baseId)
  return page.of(rows.map(toToolset), total)
}

/** @throws FORBIDDEN without a grant on the base as a whole; NOT_FOUND */
export async function getToolset(scope: Scope, baseId: string, id: string): Promise<Toolset> {
  demand(scope.access, 'read', baseId, '*')
  const row = await scope.db.orm.toolset.findUnique({ where: { baseId_id: { baseId, id } } })
  if (row) return toToolset(row)
  await demandBase(scope, baseId)
  throw toolsetNotFound(id)
}
