export {
  COMPILED_INDEXES,
  type CompiledIndex,
  type IndexField,
} from '../../schema/compiled-types/compiled-type.ts'
export { duplicatesAmong, nameConflictingRecord } from './conflicting-records.ts'
export {
  declaredFields,
  declaredIndex,
  isSameIndex,
  type ResolvedIndex,
  readIndexes,
  resolvedIndex,
  shownIndex,
} from './declaration.ts'
export {
  ENTERING,
  entriesGone,
  entriesOf,
  hasMoved,
  keyedEntries,
  LEAVING,
  variantFor,
  variantOf,
  type WriteStatement,
  writeStatement,
} from './entries.ts'
export type { KeyedRecord } from './entry-keys.ts'
export { type Becoming, releaseUnique, writeDraftsTogether } from './exchange.ts'
export { buildIndexes, copyIndexes, declareIndexes, dropEntries, dropIndexes, syncIndexes } from './sync.ts'
export { guardUnique, hasUnique, type Written } from './unique.ts'
