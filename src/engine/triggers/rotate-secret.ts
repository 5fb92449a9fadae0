import { changeOne } from '../configuration/lifecycle/change.ts'
import type { View } from '../configuration/lifecycle/kind.ts'
import { loadedIn } from '../configuration/lifecycle/load.ts'
import { lockForPromotion } from '../configuration/lifecycle/lock.ts'
import { requireManage } from '../configuration/lifecycle/read.ts'
import { newSecret, TRIGGER } from '../configuration/triggers/index.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'

/**
 * Gives a trigger a new secret, which the answer shows once. Deliveries are signed with both for a day. A base that
 * takes configuration by promotion only has it too: secrets are not promoted.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function rotateSecret(scope: WriteScope, baseId: string, id: string): Promise<View> {
  requireManage({ kind: TRIGGER, scope, baseId, id })
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockForPromotion(within, baseId)
    const secret = newSecret()
    const view = await changeOne(loadedIn(within, baseId), TRIGGER, {
      id,
      options: { expected: NO_EXPECTATION },
      changed: (before) => before && { input: {}, next: { ...before, secret } },
    })
    return { ...view, secret }
  })
}
