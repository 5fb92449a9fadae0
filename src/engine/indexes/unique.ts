import { type Detail, DomainError } from '../../foundation/errors.ts'
import { pointer } from '../../json/parse.ts'
import type { CompiledIndex, CompiledType } from '../compiled-types/compiled-type.ts'
import { violatedConstraint } from '../database/errors.ts'

const isEnforced = ({ kind, status }: CompiledIndex) => kind === 'unique' && status !== 'failed'

/** Whether the type has an enforced unique index. */
export const hasUnique = ({ indexes }: CompiledType): boolean => indexes.some(isEnforced)

/**
 * Runs a record write and maps unique violations.
 * @throws CONFLICT when a unique index of the type rejects it
 */
export async function guardUnique<T>(type: CompiledType, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    if (violatedConstraint(thrown) !== 'record_index_unique') throw thrown
    throw duplicateValue(type, thrown)
  }
}

function duplicateValue(type: CompiledType, thrown: unknown): DomainError {
  const enforced = type.indexes.filter(isEnforced)
  const named = enforced.find(({ id }) => id === refusing(thrown))
  const details = (named ? [named] : enforced).map(refusal)
  const [only, ...others] = details
  const message =
    only && others.length === 0
      ? only.message
      : 'A unique index refuses these values: another record has them.'
  return new DomainError('CONFLICT', message, { details, cause: thrown })
}

/** The id of the violated index; undefined when the original database error was lost inside a transaction. */
function refusing(thrown: unknown): string | undefined {
  const { detail } = thrown as { detail?: unknown }
  return typeof detail === 'string' ? /=\([^,]*, (\d+), /.exec(detail)?.[1] : undefined
}

function refusal({ fields }: CompiledIndex): Detail {
  const names = fields.map(({ field }) => field).join(' and ')
  const [first] = fields
  const path = first?.path ? pointer('data', ...first.path.map(String)) : `/${first?.column}`
  return {
    path,
    code: 'duplicate_value',
    message: `${names} must be unique, and another record has this value. Write to that record, or send another value.`,
  }
}
