/** Compiled configuration: a record type in the form for reads and writes. */
import type { CompiledSchema } from '../json-schema/index.ts'
import type { CompiledIndex } from './compiled-index.ts'

/** A record type with its compiled schema, and the version it was compiled from. */
export type CompiledType = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  /**
   * Increases with each change that writers depend on: the type itself, and the set of indexes they maintain.
   */
  readonly revision: number
  readonly timezone: string
  readonly jsonSchema: unknown
  readonly schema: CompiledSchema
  readonly indexes: readonly CompiledIndex[]
}
