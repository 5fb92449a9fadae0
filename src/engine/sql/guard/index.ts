export { type Prepared, prepareSql } from './prepare.ts'
export type { Catalog } from './relations/catalog.ts'
