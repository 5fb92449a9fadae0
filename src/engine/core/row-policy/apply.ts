/** Row policy: row-level security and field visibility of the types in a narrowed scope. */

import { oneFault } from '../../../foundation/errors.ts'
import { bindFilter, bothFilters } from '../../data/filter/check-fields.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import type { BoundFilter, Filter } from '../../data/filter/syntax-tree.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Access, requirePermission } from '../../storage/access/access.ts'
import type { Permission } from '../../storage/access/grants.ts'
import type { TypePolicy } from '../policy.ts'
import type { Scope } from '../scope.ts'

/** The unrestricted grants of a scope, for code that enforces row policies itself. */
export const rightsOf = ({ policy, access }: Scope): Access => policy?.access ?? access

/** The row policy of a type; undefined for an unrestricted caller. */
export const policyOn = ({ policy }: Scope, baseId: string, recordType: string): TypePolicy | undefined =>
  policy?.baseId === baseId ? policy.types.get(recordType) : undefined

/**
 * Checks a permission on a type and returns its row policy, for code that enforces it.
 * @throws FORBIDDEN
 */
export function authorize(
  scope: Scope,
  permission: Permission,
  baseId: string,
  recordType: string,
): TypePolicy | undefined {
  requirePermission(rightsOf(scope), permission, baseId, recordType)
  return policyOn(scope, baseId, recordType)
}

/** The type with only the fields that the row policy shows. */
export const visibleType = (policy: TypePolicy | undefined, type: CompiledType) =>
  policy ? { ...type, visible: policy.visible } : type

/**
 * Combines a caller's filter with the row policy. `type` is the result of `visibleType`.
 * @throws VALIDATION_ERROR for a hidden or unknown field
 */
export const filterWithPolicy = (
  policy: TypePolicy | undefined,
  filter: Filter | null,
  type: FieldContext,
): BoundFilter | null => bothFilters(policy?.filter ?? null, filter && bindFilter(filter, type))

/**
 * Rejects an operation that does not support row policies.
 * @throws FORBIDDEN
 */
export function refuseWithPolicy(policy: TypePolicy | undefined, recordType: string, what: string): void {
  if (!policy) return
  throw oneFault(
    'FORBIDDEN',
    `${what} is not available for type "${recordType}" at this endpoint: its row and field policy cannot be applied to it.`,
    {
      path: '',
      code: 'out_of_bounds',
      message: 'Read the records as they are now, or use an address without a policy on the type.',
    },
  )
}
