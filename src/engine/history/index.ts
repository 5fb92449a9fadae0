export { revertChange } from './revert.ts'
export { listTrash, type TrashedRecord } from './trash.ts'
export { listVersions, type RecordVersion } from './versions.ts'
