import { unknownName } from '../../../contract/suggest.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import type { Named } from '../lifecycle/kind.ts'

/** Name, label and codes of record types, for references to them. */
export const RECORD_TYPE_NAMES = {
  name: 'record_type',
  label: 'a record type',
  codes: { notFound: 'record_type_not_found', unknown: 'unknown_record_type' },
} as const satisfies Named

/**
 * Creates the 404 of a record type.
 * @param known ids of the types that the token may read, for a suggestion
 */
export function typeNotFound(id: string, known: readonly string[] = []): DomainError {
  const about = known.length > 0 ? unknownName(id, known) : {}
  const suggestion = 'hint' in about ? ` Did you mean "${about.hint}"?` : ''
  return oneFault('NOT_FOUND', `There is no record type "${id}".${suggestion}`, {
    path: '/record_type',
    code: 'record_type_not_found',
    message: 'List the record types of the base, or create this one first.',
    ...about,
  })
}
