export { patchRelationshipType, putRelationshipType } from './change.ts'
export {
  demandRelationshipType,
  mayReadRelationships,
  readableRelationshipTypes,
  relationshipTypesOf,
  reloadRelationshipTypes,
} from './compiled.ts'
export { getRelationshipType, listRelationshipTypes } from './read.ts'
export type { RelationshipType } from './relationship-type.ts'
export { deleteRelationshipType } from './remove.ts'
