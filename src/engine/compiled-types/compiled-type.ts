/** Compiled configuration: what reads and writes need to know of a type, with its schema compiled. */
import type { CompiledSchema } from '../json-schema/index.ts'
import type { CompiledIndex } from './compiled-index.ts'

/** A record type as reads and writes need it: its schema compiled, under the version it was compiled from. */
export type CompiledType = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  /** Rises with all that a writer must know of the type: itself, and which indexes it writes entries of. */
  readonly revision: number
  readonly timezone: string
  readonly jsonSchema: unknown
  readonly schema: CompiledSchema
  readonly indexes: readonly CompiledIndex[]
}
