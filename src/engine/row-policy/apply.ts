/** Row-level security: the rows and fields of a type that a narrowed scope reaches. */
import { DomainError } from '../../foundation/errors.ts'
import { type Access, demand, type Permission } from '../access/access.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { TypeLens } from '../core/policy.ts'
import type { Scope } from '../core/scope.ts'
import { type BoundFilter, bindFilter, bothFilters } from '../filter/bind.ts'
import type { FieldContext } from '../filter/operand.ts'
import type { Filter } from '../filter/parse.ts'

/** The rights on all that a scope reaches, for what honours the bounds of types. */
export const rightsOf = ({ lens, access }: Scope): Access => lens?.access ?? access

/** The bounds of a type; undefined for all that ask without any. */
export const lensOn = ({ lens }: Scope, baseId: string, recordType: string): TypeLens | undefined =>
  lens?.baseId === baseId ? lens.types.get(recordType) : undefined

/** Asks for a permission on a type for what honours its bounds, and answers these. @throws FORBIDDEN */
export function demandWithin(
  scope: Scope,
  permission: Permission,
  baseId: string,
  recordType: string,
): TypeLens | undefined {
  demand(rightsOf(scope), permission, baseId, recordType)
  return lensOn(scope, baseId, recordType)
}

/** The type as a caller through the lens may speak of it. */
export const typeThrough = (lens: TypeLens | undefined, type: CompiledType) =>
  lens ? { ...type, shown: lens.shown } : type

/**
 * What a caller asks for, among the records there are for it. `type` is the type as `typeThrough` shows it.
 * @throws VALIDATION_ERROR for a field that is hidden or that the type does not have
 */
export const filterThrough = (
  lens: TypeLens | undefined,
  filter: Filter | null,
  type: FieldContext,
): BoundFilter | null => bothFilters(lens?.filter ?? null, filter && bindFilter(filter, type))

/** Refuses what cannot be bounded, by name. @throws FORBIDDEN */
export function refuseThrough(lens: TypeLens | undefined, recordType: string, what: string): void {
  if (!lens) return
  throw new DomainError(
    'FORBIDDEN',
    `${what} is not available for type "${recordType}" at this endpoint: its row and field policy cannot be applied to it.`,
    {
      details: [
        {
          path: '',
          code: 'out_of_bounds',
          message: 'Read the records as they are now, or use an address without a policy on the type.',
        },
      ],
    },
  )
}
