import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'

const HAS_FILE_TYPE = statement(
  'base_has_file_type',
  'SELECT 1 AS one FROM plinth.file_type WHERE base_id = $1 LIMIT 1',
)
// Looks at each base, not at each type.
const BASES = statement(
  'bases_with_file_types',
  `SELECT b.id FROM plinth.base b
   WHERE ($1::text[] IS NULL OR b.id = ANY ($1) OR b.production_base = ANY ($1)) AND b.id > $2
     AND (SELECT true FROM plinth.file_type t WHERE t.base_id = b.id LIMIT 1)
   ORDER BY b.id LIMIT ${LIMITS.basesWalked}`,
)

/**
 * Whether the token can read a file type of the base; without one, of any base.
 * @throws FORBIDDEN without a grant on types of the base
 */
export async function seesFileTypes(scope: Scope, baseId: string | null): Promise<boolean> {
  const { access } = scope
  if (baseId !== null) {
    requireBaseAccess(access, baseId)
    return access.allows('read', baseId, '*') && (await read(scope, HAS_FILE_TYPE, [baseId])).length > 0
  }
  const named = access.bases('read')
  // The first bases may all be ones of an environment that the token does not reach.
  for (let after = ''; ; ) {
    const bases = await read<{ id: string }>(scope, BASES, [named === '*' ? null : [...named], after])
    if (bases.some(({ id }) => access.allows('read', id, '*'))) return true
    if (bases.length < LIMITS.basesWalked) return false
    after = bases.at(-1)?.id ?? ''
  }
}
