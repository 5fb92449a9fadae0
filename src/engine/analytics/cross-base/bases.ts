import { advised } from '../../../foundation/advised-requests.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { listed } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'

const ALL = '*'

const EXISTING = statement(
  'cross_base_existing',
  `SELECT b.id, c.base_id IS NOT NULL AS is_change_set
   FROM plinth.base b LEFT JOIN plinth.change_set c ON c.base_id = b.id WHERE b.id = ANY ($1)`,
)

// $2: the grants that include the type, in the format of access.ts.
const GRANTED = statement(
  'cross_base_granted',
  `SELECT b.id FROM plinth.record_type t JOIN plinth.base b ON b.id = t.base_id
   WHERE t.id = $1 AND EXISTS (
     SELECT FROM jsonb_to_recordset($2::jsonb) AS g(base jsonb, environment text)
     WHERE (g.base ? '*' OR g.base ? b.id OR g.base ? b.production_base) AND g.environment IN ('*', b.environment))
   LIMIT ${LIMITS.queriedBases + 1}`,
)

/**
 * Selects the bases of a query: the named ones, or for `["*"]` all that have the type and that the token may
 * read.
 * @throws FORBIDDEN for a named base without read permission, whether or not it exists; VALIDATION_ERROR for
 * an invalid list
 */
export function namedBases(
  scope: Scope,
  bases: readonly string[],
  recordType: string,
): readonly string[] | '*' {
  const names = [...new Set(bases)]
  for (const name of names) if (name !== ALL) requirePermission(scope.access, 'read', name, recordType)
  if (names.length === 0)
    throw fault('out_of_range', 'bases must name at least one base, or all that the token may read: ["*"].')
  if (names.length > LIMITS.queriedBases) throw tooMany()
  if (!names.includes(ALL)) return names
  if (names.length > 1)
    throw fault('exclusive', '"*" is every base already. Send it alone, or name the bases.')
  return ALL
}

/**
 * The ids of the selected bases.
 * @throws NOT_FOUND for a named base that does not exist; VALIDATION_ERROR for too many, and for a change-set
 */
export async function findBases(
  scope: Scope,
  bases: readonly string[] | '*',
  recordType: string,
): Promise<readonly string[]> {
  if (bases === ALL) return grantedBases(scope, recordType)
  const rows = await scope.db.query<{ id: string; is_change_set: boolean }>(EXISTING, [bases])
  const missing = bases.find((name) => !rows.some(({ id }) => id === name))
  if (missing !== undefined) throw notFound(missing)
  const changeSet = rows.find(({ is_change_set }) => is_change_set)
  if (changeSet) throw ofOneBase(changeSet.id)
  return bases
}

async function grantedBases({ access, db }: Scope, recordType: string): Promise<readonly string[]> {
  const grants = access.grants.filter(({ record_type }) =>
    listed(record_type).some((type) => type === '*' || type === recordType),
  )
  const reach = grants.map(({ base, environment }) => ({ base: listed(base), environment }))
  const found = await db.query<{ id: string }>(GRANTED, [recordType, JSON.stringify(reach)])
  if (found.length > LIMITS.queriedBases) throw tooMany()
  // The statement only prefilters; the access check decides.
  return found.map(({ id }) => id).filter((id) => access.allows('read', id, recordType))
}

const notFound = (id: string) =>
  oneFault('NOT_FOUND', `There is no base "${id.slice(0, 64)}".`, {
    path: '/bases',
    code: 'base_not_found',
    message: `${advised('list_bases')} lists the bases this token sees.`,
  })

/** A change-set has no rows of the types that it shows: without this its answer would be empty. */
const ofOneBase = (id: string) =>
  fault(
    'not_in_change_sets',
    `A query across bases reads no change-set, and "${id}" is one. Query it at its own address, or name its production base here.`,
  )

const tooMany = () =>
  fault('too_many', `One query can read at most ${LIMITS.queriedBases} bases. Send fewer base ids.`)

const fault = (code: string, message: string) => invalid({ path: '/bases', code, message })

/** The single account of an installation. */
const ACCOUNT_ID = 'default'

/**
 * Checks the account id.
 * @throws NOT_FOUND for another account
 */
export function requireAccount(id: string): void {
  if (id === ACCOUNT_ID) return
  throw oneFault('NOT_FOUND', `There is no account "${id.slice(0, 64)}".`, {
    path: '/account_id',
    code: 'account_not_found',
    message: `The account of this installation is "${ACCOUNT_ID}".`,
    hint: ACCOUNT_ID,
  })
}
