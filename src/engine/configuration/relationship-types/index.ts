export {
  mayReadRelationships,
  readableRelationshipTypes,
  relationshipTypesOf,
  reloadRelationshipTypes,
  requireRelationshipType,
} from './load-types.ts'
export { RELATIONSHIP_TYPE } from './relationship-type.ts'
