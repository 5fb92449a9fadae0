export type { Kind, Stored, View } from './kind.ts'
export { patch, put, remove } from './lifecycle.ts'
export { getVersion, history } from './past.ts'
export { get, list } from './read.ts'
