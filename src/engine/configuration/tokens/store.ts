/** How each token is stored, whoever makes it: by its hash, with an entry of the history of tokens. */
import { uuidv7 } from '../../../foundation/uuid.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import { storedSecret, toToken } from '../../core/authentication/authenticate.ts'
import type { Scope } from '../../core/scope.ts'
import type { Prisma, Token } from '../../prisma/client.ts'

type Made = Omit<Prisma.TokenUncheckedCreateInput, 'id' | 'hash' | 'tail'> & { id?: string }

/** Stores a token in the transaction of the scope, whose actor made it. */
export async function storeToken(scope: Scope, secret: string, made: Made): Promise<Token> {
  const row = await scope.db.orm.token.create({ data: { id: uuidv7(), ...storedSecret(secret), ...made } })
  await appendChange(scope, {
    ...{ baseId: ACCOUNT, kind: 'token', id: row.id },
    ...{ operation: 'create', version: 1, state: toToken(row) },
  })
  return row
}
