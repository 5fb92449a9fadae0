export {
  RELATIONSHIP_COLUMNS,
  type Relationship,
  type RelationshipRow,
  relationshipNotFound,
  toRelationship,
  toRelationshipView,
} from '../../data/ledger/relationship.ts'
export { checkEnds, isLinkWithin, within } from './ends.ts'
export { checkLink, invalidId, type LinkEnd, type LinkWrite, linkText } from './link.ts'
export { getRelationship, listRelationships } from './list.ts'
export { createRelationship, putRelationship, readLink } from './put.ts'
export { deleteLinkBetween, deleteLinks, deleteRelationship, findLinksBetween, notLinked } from './remove.ts'
export { writeLinks } from './write-links.ts'
