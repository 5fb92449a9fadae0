import { unknownName } from '../../../contract/suggest.ts'
import { capped, type Detail, type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { pointer } from '../../../json/parse.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import type { TypePolicy } from '../policy.ts'

type Data = Record<string, unknown>
type VisibleFields = Pick<TypePolicy, 'visible'>

const split = ({ visible }: VisibleFields, data: unknown, isWanted: boolean): Data =>
  Object.fromEntries(
    Object.entries(data as Data).filter(
      ([name]) => (visible === null || visible.includes(name)) === isWanted,
    ),
  )

/** Projects data to its visible properties. */
export const visibleData = (policy: VisibleFields, data: unknown): Data => split(policy, data, true)

/** The record as the field policy shows it, if there is one. */
export const seenRecord = <R extends { readonly data: unknown }>(
  policy: VisibleFields | undefined,
  record: R,
): R => (policy ? { ...record, data: visibleData(policy, record.data) } : record)

/** Merges a write with the stored data: hidden properties keep their values. */
export const keepHidden = (policy: VisibleFields, stored: unknown, written: unknown): Data => ({
  ...split(policy, stored, false),
  ...(written as Data),
})

/** The data of a new record, with the policy's defaults for omitted properties. */
export const withEndpointDefaults = ({ defaults }: TypePolicy, written: unknown): Data => ({
  ...defaults,
  ...(written as Data),
})

/**
 * Checks that a write names visible properties only.
 * @throws VALIDATION_ERROR, the same for hidden and unknown properties
 */
export function checkVisible(policy: VisibleFields | undefined, data: unknown): void {
  const fault = policy && hiddenNames(policy, data)
  if (fault) throw fault
}

/** The error for property names that are not visible, if any. */
export function hiddenNames({ visible }: VisibleFields, data: unknown): DomainError | undefined {
  if (!visible || typeof data !== 'object' || data === null) return undefined
  const names = Object.keys(data).filter((name) => !visible.includes(name))
  const faults = names.slice(0, LIMITS.errorDetails).map(
    (name): Detail => ({
      path: `/data${pointer(name)}`,
      code: 'unknown_field',
      message: `There is no property "${name.slice(0, 64)}" here. Leave it out.`,
      ...unknownName(name, visible),
    }),
  )
  const [first, ...rest] = capped(faults, names.length)
  return first && invalid(first, ...rest)
}

/**
 * SQL of `data` of `plinth.record AS r` projected to the visible properties; unchanged when all are visible.
 */
export const visibleDataSql = (
  visible: readonly string[] | null | undefined,
  parameters: Parameters,
): string =>
  visible
    ? `(SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(r.data) d WHERE d.key = ANY (${parameters.add(visible)}::text[]))`
    : 'r.data'
