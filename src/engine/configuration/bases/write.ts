import { isProductionBaseId, productionOf } from '../../../contract/ids.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { put, remove } from '../lifecycle/lifecycle.ts'
import { BASE, type Base } from './base.ts'

/** Creates the base or replaces its name, description and settings. Omitted fields get their defaults. */
export const putBase = (scope: WriteScope, id: string, input: object, expected: Expectation): Promise<Base> =>
  put({ kind: BASE, scope, baseId: id, id }, input, { expected }) as Promise<Base>

/** Deletes the base with its content and its previews. A base with records or files requires its id in `confirm`. */
export async function deleteBase(
  scope: WriteScope,
  id: string,
  confirm: string | null,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  requirePermission(scope.access, isProductionBaseId(id) ? 'admin' : 'manage', id, '*')
  requirePermission(scope.access, 'read', productionOf(id), '*')
  return remove({ kind: BASE, scope, baseId: id, id }, { confirm, expected })
}
