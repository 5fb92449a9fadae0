export {
  demandRelationshipType,
  mayReadRelationships,
  readableRelationshipTypes,
  relationshipTypesOf,
  reloadRelationshipTypes,
} from './compiled.ts'
export { RELATIONSHIP_TYPE } from './relationship-type.ts'
