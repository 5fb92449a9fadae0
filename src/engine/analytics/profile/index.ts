export type { Example } from './examples.ts'
export { profileRecordType, type TypeProfile } from './profile.ts'
export type { FieldProfile } from './summary.ts'
