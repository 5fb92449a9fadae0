export { sharedNames } from './fields.ts'
export { refreshType, requireType, typesVersion } from './read.ts'
export { RECORD_TYPE, type RecordType } from './record-type.ts'
export { type NamedType, someTypesOfBase, typesOfBase } from './types-of-base.ts'
