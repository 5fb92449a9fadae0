export type { Example } from './examples.ts'
export { type InferredSchema, inferSchema } from './infer-schema.ts'
export { profileRecordType, type TypeProfile } from './profile.ts'
export type { FieldProfile } from './summary.ts'
