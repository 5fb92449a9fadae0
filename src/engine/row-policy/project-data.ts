import { unknownName } from '../../contract/suggest.ts'
import { capped, type Detail, type DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { pointer } from '../../json/index.ts'
import type { TypeLens } from '../core/policy.ts'
import type { Parameters } from '../filter/parameters.ts'

type Data = Record<string, unknown>
type Shown = Pick<TypeLens, 'shown'>

const split = ({ shown }: Shown, data: unknown, isWanted: boolean): Data =>
  Object.fromEntries(
    Object.entries(data as Data).filter(([name]) => (shown === null || shown.includes(name)) === isWanted),
  )

/** Projects data to its visible properties. */
export const showData = (lens: Shown, data: unknown): Data => split(lens, data, true)

/** Merges a write with the stored data: hidden properties keep their values. */
export const keepHidden = (lens: Shown, held: unknown, written: unknown): Data => ({
  ...split(lens, held, false),
  ...(written as Data),
})

/** The data of a new record, with the policy's defaults for omitted properties. */
export const withDefaults = ({ defaults }: TypeLens, written: unknown): Data => ({
  ...defaults,
  ...(written as Data),
})

/**
 * Checks that a write names visible properties only.
 * @throws VALIDATION_ERROR, the same for hidden and unknown properties
 */
export function checkVisible(lens: Shown | undefined, data: unknown): void {
  const fault = lens && hiddenNames(lens, data)
  if (fault) throw fault
}

/** The error for property names that are not visible, if any. */
export function hiddenNames({ shown }: Shown, data: unknown): DomainError | undefined {
  if (!shown || typeof data !== 'object' || data === null) return undefined
  const names = Object.keys(data).filter((name) => !shown.includes(name))
  const faults = names.slice(0, LIMITS.errorDetails).map(
    (name): Detail => ({
      path: `/data${pointer(name)}`,
      code: 'unknown_field',
      message: `There is no property "${name.slice(0, 64)}" here. Leave it out.`,
      ...unknownName(name, shown),
    }),
  )
  const [first, ...rest] = capped(faults, names.length)
  return first && invalid(first, ...rest)
}

/**
 * SQL of `data` of `plinth.record AS r` projected to the visible properties; unchanged when all are visible.
 */
export const shownData = (shown: readonly string[] | null | undefined, parameters: Parameters): string =>
  shown
    ? `(SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(r.data) d WHERE d.key = ANY (${parameters.add(shown)}::text[]))`
    : 'r.data'
