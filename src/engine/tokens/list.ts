import { readNewest } from '../newest.ts'
import type { Page, PageArgs } from '../page.ts'
import type { Scope } from '../scope.ts'
import { demandAnyAdmin, manages } from './may-manage.ts'
import { type Token, toToken } from './token.ts'

/** Tokens that the asking one may manage: those whose every grant it could have given. */
export async function listTokens(scope: Scope, args: PageArgs): Promise<Page<Token>> {
  demandAnyAdmin(scope)
  const page = readNewest(scope, 'tokens', args)
  const manageable = async (where: object) => {
    const rows = await scope.db.orm.token.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    })
    return rows.map(toToken).filter((token) => manages(scope.access, token))
  }
  const found = await manageable(page.before)
  const total = page.includeTotal ? (args.cursor ? await manageable({}) : found).length : null
  return page.of(found.slice(page.offset, page.offset + page.limit + 1), total)
}
