export type { Catalog } from './catalog.ts'
export { type Prepared, prepareSql } from './prepare.ts'
