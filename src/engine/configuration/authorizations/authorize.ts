/** A person allows a client a part of the own rights: the client gets a code, once. */
import { TokenBody } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { hashOf, newSecret } from '../../core/authentication/authenticate.ts'
import { outside, tokenRequired } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import type { Scope } from '../../core/scope.ts'
import { narrowGrants, type Reach } from '../../storage/access/narrow-grants.ts'

export type Allowed = {
  client: { id: string; name: string }
  redirectUri: string
  /** The S256 challenge of PKCE. */
  challenge: string
  /** The address that the client connects to. */
  resource: string
  reach: Reach
  endsAt: Date | null
}

/**
 * The token that a caller allows with: its own, or the one that a tab was opened with, because a tab ends before what it
 * allowed does.
 * @throws FORBIDDEN for the token of a client or of an issuer, whose rights are not its own to give
 */
export async function grantorOf({ db, actor, session }: Scope): Promise<{ id: string; endsAt: Date | null }> {
  const { token } = db.orm
  // One relation a query: for several, the ORM asks the connection of a transaction at once.
  const own =
    session?.key == null
      ? null
      : await token.findFirst({
          where: { id: actor.tokenId ?? '', authorization: null },
          select: { id: true, signedInBy: true },
        })
  const grantor =
    own && (await token.findUnique({ where: { id: own.signedInBy ?? own.id }, include: { person: true } }))
  if (!grantor)
    throw tokenRequired(
      'This token allows no clients.',
      'Sign in with a token of your own. The token of a client allows no other client.',
      '/token',
    )
  const { id, expiresAt, person } = grantor
  // The token of somebody who signed in at a provider is renewed as long as the provider says so.
  return { id, endsAt: person ? null : expiresAt }
}

/**
 * Stores what a client may have, and returns its code.
 * @throws FORBIDDEN if the caller has nothing of it; VALIDATION_ERROR for an end outside the caller's
 */
export async function allow(scope: Scope, allowed: Allowed): Promise<string> {
  const { client, redirectUri, challenge, resource, endsAt } = allowed
  const grants = narrowGrants(scope.access.grants, allowed.reach)
  if (grants.length === 0) throw outside('/reach', 'You have no such rights yourself.')
  check(TokenBody.shape.grants, grants, inBody('/grants'))
  const code = newSecret()
  await scope.db.transaction(async (tx) => {
    await lockCreator(tx, scope)
    const grantor = await grantorOf({ ...scope, db: tx })
    if (endsAt ? endsAt <= new Date() || (grantor.endsAt && endsAt > grantor.endsAt) : grantor.endsAt)
      throw invalid({
        path: '/end',
        code: 'outside_own_end',
        message: 'Choose an end before that of your own access.',
      })
    await tx.orm.authorization.create({
      data: {
        id: uuidv7(),
        clientId: client.id,
        clientName: client.name,
        grantedBy: grantor.id,
        grants: grants as object[],
        ...{ resource, redirectUri, challenge, endsAt },
        codeHash: hashOf(code),
        codeExpiresAt: new Date(Date.now() + LIMITS.oauthCodeSeconds * 1000),
      },
    })
  })
  return code
}
