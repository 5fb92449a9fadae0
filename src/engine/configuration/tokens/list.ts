import { type Token, type TokenState, toToken } from '../../authentication/authenticate.ts'
import { administersAll, manages, requireAnyAdmin } from '../../authentication/may-manage.ts'
import { createdBefore, readNewest, type Step } from '../../core/created-at-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'

/** Lists the tokens that the caller may manage: those whose grants it could all give. */
export async function listTokens(scope: Scope, args: PageArgs): Promise<Page<Token>> {
  requireAnyAdmin(scope)
  const page = readNewest(scope, 'tokens', args)
  const rows = await page.rows((step) => manageable(scope, step))
  return page.of(rows.map(toToken), page.includeTotal ? await count(scope) : null)
}

/** Rows per query. Most rows may belong to other administrators. */
const READ_ROWS = 64

async function manageable(scope: Scope, { before, take, skip }: Step): Promise<TokenState[]> {
  const found: TokenState[] = []
  let left = skip
  for await (const row of walk(scope, before)) {
    if (left-- > 0) continue
    found.push(row)
    if (found.length === take) break
  }
  return found
}

async function count(scope: Scope): Promise<number> {
  if (administersAll(scope.access)) return scope.db.orm.token.count()
  let total = 0
  for await (const _ of walk(scope, {})) total++
  return total
}

/** Iterates over the tokens that the caller may manage, newest first, with few rows in memory. */
async function* walk(scope: Scope, before: object): AsyncGenerator<TokenState> {
  for (let from: object | null = before; from; ) {
    const rows: TokenState[] = await scope.db.orm.token.findMany({
      where: from,
      omit: { hash: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: READ_ROWS,
    })
    for (const row of rows) if (await manages(scope.access, toToken(row))) yield row
    const last = rows.at(-1)
    from = last && rows.length === READ_ROWS ? createdBefore(last.createdAt, last.id) : null
  }
}
