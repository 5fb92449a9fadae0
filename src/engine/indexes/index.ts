export {
  COMPILED_INDEXES,
  type CompiledIndex,
  type IndexField,
} from '../compiled-types/compiled-index.ts'
export { type ResolvedIndex, readIndexes } from './declaration.ts'
export { declaredIndex, resolvedIndex, shownIndex } from './declared.ts'
export {
  entriesGone,
  entriesOf,
  LEAVING,
  variantFor,
  type WriteStatement,
  writeStatement,
} from './entries.ts'
export { dropIndexes, syncIndexes } from './sync.ts'
export { guardUnique, hasUnique } from './unique.ts'
