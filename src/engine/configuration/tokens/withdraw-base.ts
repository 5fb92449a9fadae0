import type { WriteScope } from '../../core/write/write.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'

const NAMING_BASE = statement(
  'tokens_naming_base',
  `SELECT id, grants FROM plinth.token WHERE jsonb_path_exists(grants, '$[*].base ? (@ == $id)', jsonb_build_object('id', $1::text)) FOR UPDATE`,
)

/** Removes a deleted base from all grants, so that a new base with the same id starts without grants. */
export async function withdrawBase(scope: WriteScope, baseId: string): Promise<void> {
  const rows = await scope.db.query<{ id: string; grants: Grant[] }>(NAMING_BASE, [baseId])
  for (const { id, grants } of rows) {
    const kept = grants
      .map((grant) => ({
        ...grant,
        base: typeof grant.base === 'string' ? grant.base : grant.base.filter((named) => named !== baseId),
      }))
      .filter((grant) => grant.base !== baseId && grant.base.length > 0)
    await scope.db.orm.token.update({ where: { id }, data: { grants: kept as object[] } })
  }
}
