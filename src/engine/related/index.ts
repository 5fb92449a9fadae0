export { expandRecords } from './expand.ts'
export { type Related, type RelatedPage, relatedRecords } from './related.ts'
export { DIRECTIONS } from './traversal-sql.ts'
