import { createHash } from 'node:crypto'

/** What one principal may read: a base and the ids of record types in order, or `*` alone for all of them. */
export type Reach = { readonly baseId: string; readonly recordTypes: readonly string[] }

/** The reach of the server's own login, where no roles can be made: the parser alone keeps to the grants. */
export const EVERYWHERE: Reach = { baseId: '*', recordTypes: ['*'] }

/** The group that all roles of a database belong to; it holds what they have in common. */
export const groupOf = (database: number): string => `plinth_sql_${database}`

/** The role of a reach. The database's id is in its name, since all databases of a cluster share their roles. */
export function roleOf(database: number, { baseId, recordTypes }: Reach): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseId, recordTypes]))
    .digest('hex')
  return `${groupOf(database)}_${hash.slice(0, 24)}`
}
