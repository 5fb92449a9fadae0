import { type Detail, DomainError } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import type { CompiledIndex, CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { violatedConstraint } from '../../storage/database/errors.ts'

const isEnforced = ({ kind, status }: CompiledIndex) => kind === 'unique' && status !== 'failed'

/** Whether the type has an enforced unique index. */
export const hasUnique = ({ indexes }: CompiledType): boolean => indexes.some(isEnforced)

/** A record as one write makes it. */
export type Written = {
  id: string | null
  text: string
  pair: { externalId: string; externalSource: string } | null
}

/** The cause of the CONFLICT: which record was refused. `nameConflictingRecord` finds the record that is in its way. */
export class UniqueViolation extends Error {
  readonly type: CompiledType
  readonly written: Written

  constructor(type: CompiledType, written: Written, cause: unknown) {
    super('unique violation', { cause })
    this.type = type
    this.written = written
  }
}

/**
 * Runs a record write and maps unique violations. `written` is the record, if the write is of one.
 * @throws CONFLICT when a unique index of the type rejects it
 */
export async function guardUnique<T>(
  type: CompiledType,
  write: () => Promise<T>,
  written?: Written,
): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    if (violatedConstraint(thrown) !== 'record_index_unique') throw thrown
    throw duplicateValue(type, thrown, written)
  }
}

function duplicateValue(type: CompiledType, thrown: unknown, written: Written | undefined): DomainError {
  const enforced = type.indexes.filter(isEnforced)
  const named = enforced.find(({ id }) => id === refusing(thrown))
  const details = (named ? [named] : enforced).map(refusal)
  const [only, ...others] = details
  const message = only && others.length === 0 ? only.message : SEVERAL
  const cause = written ? new UniqueViolation(type, written, thrown) : thrown
  return new DomainError('CONFLICT', message, { details, cause })
}

/** The id of the violated index; undefined when the original database error was lost inside a transaction. */
function refusing(thrown: unknown): string | undefined {
  const { detail } = thrown as { detail?: unknown }
  return typeof detail === 'string' ? /=\([^,]*, (\d+), /.exec(detail)?.[1] : undefined
}

/** Where a refusal of an index points. */
export function pathOf({ fields: [first] }: Pick<CompiledIndex, 'fields'>): string {
  return first?.path ? pointer('data', ...first.path.map(String)) : `/${first?.column}`
}

export function refusal(index: CompiledIndex): Detail {
  const names = index.fields.map(({ field }) => field).join(' and ')
  return {
    path: pathOf(index),
    code: 'duplicate_value',
    message: `${names} must be unique, and ${ANOTHER}`,
  }
}

/** What it says as a whole, while it is not known which of several indexes refuses. */
export const SEVERAL = 'A unique index refuses these values: another record has them.'

/** What a refusal says of the record in the way, until its id is known. */
export const ANOTHER = 'another record has this value. Write to that record, or send another value.'
