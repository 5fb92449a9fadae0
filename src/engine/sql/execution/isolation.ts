import { createHash } from 'node:crypto'
import { type Db, statement } from '../../storage/database/client.ts'

/**
 * Isolation of statements in addition to the parser. `full`: a login role per set of grants, in a database
 * with PUBLIC privileges revoked on catalogs and dangerous functions; `roles`: the login roles only;
 * `parser_only`: neither.
 */
export type Isolation = 'full' | 'roles' | 'parser_only'

// A shared database keeps its PUBLIC privileges, since other users may rely on them.
const ABILITIES = statement(
  'sql_abilities',
  `SELECT r.rolsuper, r.rolcreaterole, EXISTS (
     SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
       AND n.nspname NOT IN ('plinth', 'plinth_sql', 'plinth_draft', 'graphile_worker', 'pg_catalog', 'information_schema', 'pg_toast')
       AND n.nspname NOT LIKE 'pg\\_temp\\_%'
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
   ) AS shared
   FROM pg_roles r WHERE r.rolname = current_user`,
)

/** Detects the isolation level that the privileges of the server's login allow. */
export async function findIsolation(db: Db): Promise<Isolation> {
  const [row] = await db.query<{ rolsuper: boolean; rolcreaterole: boolean; shared: boolean }>(ABILITIES, [])
  if (row?.rolsuper && !row.shared) return 'full'
  return row?.rolsuper || row?.rolcreaterole ? 'roles' : 'parser_only'
}

const WARNINGS = {
  roles:
    'SQL isolation is partial: the login is not a superuser, or the database has tables of other applications. Give Plinth a database of its own and a superuser login for full isolation',
  parser_only:
    'SQL isolation is by the parser only: statements run under the login of the server. Let the login create roles, or set PLINTH_SQL_ENABLED=false',
} as const

/** The log warning for partial isolation; undefined for full isolation. */
export const warningOf = (isolation: Isolation): string | undefined =>
  isolation === 'full' ? undefined : WARNINGS[isolation]

/** What a principal may read. */
export type PrincipalRights = {
  readonly baseId: string
  /** Record type ids in order, or only `*` for all of them. */
  readonly recordTypes: readonly string[]
  /** The token whose own tool calls it reads; null if it reads none, or all. */
  readonly tokenId: string | null
  /** The change-set whose drafts it sees over the records of the base; null for production. */
  readonly changeSet: string | null
}

/** The rights of the server's own login, used without login roles: only the parser enforces the grants. */
export const EVERYWHERE: PrincipalRights = { baseId: '*', recordTypes: ['*'], tokenId: null, changeSet: null }

/** The group role of a database; it holds the common privileges. */
export const groupOf = (database: number): string => `plinth_sql_${database}`

/**
 * The role name of these rights. It includes the database's OID, since the databases of a cluster share their
 * roles.
 */
export function roleOf(
  database: number,
  { baseId, recordTypes, tokenId, changeSet }: PrincipalRights,
): string {
  const hash = createHash('sha256')
    .update(
      JSON.stringify([
        ...[baseId, recordTypes, ...(tokenId === null ? [] : [tokenId])],
        ...(changeSet === null ? [] : [{ changeSet }]),
      ]),
    )
    .digest('hex')
  return `${groupOf(database)}_${hash.slice(0, 24)}`
}
