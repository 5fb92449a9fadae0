/** Pairs of external sources. Their records are in another system, so none is stored under such a pair. */
import { invalid } from '../../../foundation/errors.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { Pair } from './record.ts'

/** @throws VALIDATION_ERROR for a stored record whose external_source is a source of its type */
export function refuseSourcePair(
  { id, sources }: Pick<CompiledType, 'id' | 'sources'>,
  pair: Pair | null,
): void {
  if (!pair || !sources.some(({ name }) => name === pair.externalSource)) return
  throw invalid({
    path: '/external_source',
    code: 'source_pair',
    message: `"${pair.externalSource}" is an external source of type "${id}", and no record is stored under its name. Write one record at a time, which goes to the source, or use another external_source.`,
    received: pair.externalSource,
  })
}
