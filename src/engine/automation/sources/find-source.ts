/** Finds the source that a call names, and what it does. */
import type { Source, SourceOperation } from '../../../contract/source-shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'

/** A source of a record type, with one of its operations. */
export type SourceUse<O extends SourceOperation = SourceOperation> = {
  readonly type: CompiledType
  readonly source: Source
  readonly operation: O
  readonly request: NonNullable<Source[O]>
}

export const findSource = ({ sources }: CompiledType, name: string): Source | undefined =>
  sources.find((source) => source.name === name)

/**
 * The source of a read.
 * @throws VALIDATION_ERROR for a name that is no source of the type, or an operation that the source lacks
 */
export function requireSource<O extends SourceOperation>(
  type: CompiledType,
  name: string,
  operation: O,
): SourceUse<O> {
  const source = findSource(type, name)
  if (!source) throw unknownSource(type, name)
  return useOf(type, source, operation)
}

/** @throws VALIDATION_ERROR for an operation that the source lacks */
export function useOf<O extends SourceOperation>(
  type: CompiledType,
  source: Source,
  operation: O,
): SourceUse<O> {
  const request = source[operation]
  if (request) return { type, source, operation, request: request as NonNullable<Source[O]> }
  throw invalid({
    path: '/external_source',
    code: 'not_of_source',
    message: `The source "${source.name}" of type "${type.id}" has no ${operation}. Add it to the source in the record type, or do without.`,
  })
}

function unknownSource({ id, sources }: CompiledType, name: string) {
  const names = sources.map((source) => source.name)
  const close = nearest(name, names)
  return invalid({
    path: '/external_source',
    code: 'unknown_source',
    message: `Type "${id}" has no source "${name.slice(0, 64)}". Stored records with this external_source are found by a filter.`,
    ...(names.length > 0 && { allowed: names }),
    hint: close ?? JSON.stringify({ field: 'external_source', op: 'eq', value: name.slice(0, 512) }),
  })
}
