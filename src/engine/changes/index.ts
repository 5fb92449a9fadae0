export type { Change } from './entry.ts'
export { followChanges } from './follow.ts'
export { type ChangePage, endOfChanges, listChanges } from './list.ts'
export { changesMatch } from './match.ts'
