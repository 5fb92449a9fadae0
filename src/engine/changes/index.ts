export type { Change } from '../change-log/entry.ts'
export { changesMatch } from './changes-match.ts'
export { followChanges } from './follow.ts'
export { type ChangePage, endOfChanges, listChanges } from './list.ts'
