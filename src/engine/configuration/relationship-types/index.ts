export {
  linkSchemaOf,
  mayReadRelationships,
  readableRelationshipTypes,
  relationshipTypesOf,
  reloadRelationshipTypes,
} from './load-types.ts'
export { RELATIONSHIP_TYPE } from './relationship-type.ts'
