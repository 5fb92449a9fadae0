import { productionOf } from '../../../contract/ids.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { readNewest } from '../../core/created-at-page.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { viewOf } from './fields.ts'
import {
  type Kind,
  type Named,
  nounOf,
  type ResourceAddress,
  type Rights,
  type Stored,
  type View,
} from './kind.ts'

const OF_THE_BASE: Rights<object> = {
  list: (scope, baseId) => {
    requirePermission(scope.access, 'read', baseId, '*')
    return {}
  },
  read: (scope, baseId) => requirePermission(scope.access, 'read', baseId, '*'),
  shown: (_scope, view) => view,
}

/** The authorization rules of a kind, or the defaults. */
export const rightsTo = <F extends object, R extends Stored>(kind: Kind<F, R>): Rights<F> => ({
  ...(OF_THE_BASE as Rights<F>),
  ...kind.rights,
})

/** @throws FORBIDDEN unless the token may change the resource, in this base */
export function requireManage<F extends object, R extends Stored>(address: ResourceAddress<F, R>): void {
  const { kind, scope, baseId, id } = address
  requirePermission(scope.access, 'manage', baseId, kind.managedAs?.(id) ?? '*')
  if (kind.isPreviewOnly && productionOf(baseId) === baseId) throw previewOnly(kind, baseId)
}

const previewOnly = (kind: Named, baseId: string) =>
  oneFault(
    'FORBIDDEN',
    `Base "${baseId}" is a production base, and ${kind.label} is changed and used in previews only.`,
    {
      path: '/base_id',
      code: 'production_base',
      message: `Create a preview (${advised('create_preview')}) and send the request to it.`,
    },
  )

/**
 * Lists the resources of the base that the token may see, newest first.
 * @throws FORBIDDEN; NOT_FOUND when the base is absent
 */
export async function list<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: Scope,
  baseId: string,
  args: PageArgs,
): Promise<Page<View<F>>> {
  const rights = rightsTo(kind)
  const where = { baseId, ...rights.list(scope, baseId) }
  const page = readNewest(scope, `${nounOf(kind)}s of ${baseId}`, args)
  const [rows, total] = await page.find<R>(kind.table(scope.db), where)
  if (rows.length === 0) await requireBase(scope, baseId)
  return page.of(
    rows.flatMap((row) => rights.shown(scope, viewOf(kind, row)) ?? []),
    total,
  )
}

/**
 * Reads a resource.
 * @throws FORBIDDEN; NOT_FOUND when the base or the resource is absent or not visible
 */
export async function get<F extends object, R extends Stored>(
  address: ResourceAddress<F, R>,
): Promise<View<F>> {
  const { kind, scope, baseId, id } = address
  const rights = rightsTo(kind)
  rights.read(scope, baseId, id)
  const [row] = await kind.table(scope.db).findMany({ where: { baseId, id } })
  const view = row && rights.shown(scope, viewOf(kind, row))
  if (!view) throw await missing(address)
  return view
}

/** Creates the 404 of a resource, or of its base if that is absent. */
export async function missing<F extends object, R extends Stored>({
  kind,
  scope,
  baseId,
  id,
}: ResourceAddress<F, R>): Promise<Error> {
  if (kind.missing) return kind.missing(scope, baseId, id)
  await requireBase(scope, baseId)
  return notFound(kind, id)
}

export const notFound = (kind: Named, id: string): DomainError =>
  oneFault('NOT_FOUND', `There is no ${nounOf(kind)} "${id}".`, {
    path: '/id',
    code: kind.codes.notFound,
    message: `List the ${nounOf(kind)}s of the base, or create this one first.`,
  })
