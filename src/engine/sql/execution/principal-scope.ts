import { createHash } from 'node:crypto'

/** The read scope of a principal: a base and its record type ids in order, or only `*` for all of them. */
export type PrincipalScope = { readonly baseId: string; readonly recordTypes: readonly string[] }

/** The scope of the server's own login, used without login roles: only the parser enforces the grants. */
export const EVERYWHERE: PrincipalScope = { baseId: '*', recordTypes: ['*'] }

/** The group role of a database; it holds the common privileges. */
export const groupOf = (database: number): string => `plinth_sql_${database}`

/**
 * The role name of a scope. It includes the database's OID, since the databases of a cluster share their
 * roles.
 */
export function roleOf(database: number, { baseId, recordTypes }: PrincipalScope): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseId, recordTypes]))
    .digest('hex')
  return `${groupOf(database)}_${hash.slice(0, 24)}`
}
