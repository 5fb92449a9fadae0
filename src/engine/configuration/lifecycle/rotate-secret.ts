/** The rotation of the secret of a resource: the former one stays valid for a day. */
import { LIMITS } from '../../../foundation/limits.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { changeOne } from './change.ts'
import { openIdentityMap } from './identity-map.ts'
import type { Kind, Stored, View } from './kind.ts'
import { lockForPromotion } from './lock.ts'
import { requireManage } from './read.ts'
import { type Owner, openSecret, sealSecret } from './secrets.ts'

/**
 * Gives a resource a new secret, which the answer shows once. Both are valid for a day. A base that takes configuration by
 * promotion only has it too: secrets are not promoted.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function rotateSecret<F extends { secret: string | null }, R extends Stored>(
  scope: WriteScope,
  kind: Kind<F, R>,
  baseId: string,
  id: string,
): Promise<View<F>> {
  requireManage({ kind, scope, baseId, id })
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockForPromotion(within, baseId)
    const secret = kind.secrets?.secret?.() ?? null
    const view = await changeOne(openIdentityMap(within, baseId), kind, {
      id,
      options: { expected: NO_EXPECTATION, keepsFormerSecret: true },
      changed: (before) => before && { input: {}, next: { ...before, secret } },
    })
    return { ...view, secret }
  })
}

type Former = { readonly formerSecret: string | null; readonly formerSecretUntil: Date | null }

/** The columns of a former secret where the secret stays. */
export const keptFormer = (current: Former | null): Former => ({
  formerSecret: current?.formerSecret ?? null,
  formerSecretUntil: current?.formerSecretUntil ?? null,
})

/** The columns of a secret that a new one replaces, encrypted for the field that keeps it. */
export function formerSecret(scope: Pick<WriteScope, 'vault'>, owner: Owner, sealed: string | null): Former {
  const secret = sealed && openSecret(scope, owner, 'secret', sealed)
  return {
    formerSecret: secret ? sealSecret(scope, owner, 'formerSecret', secret) : null,
    formerSecretUntil: new Date(Date.now() + LIMITS.formerSecretHours * 3_600_000),
  }
}
