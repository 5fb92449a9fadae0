/** What sign-in stores: clients, what persons allow them, and persons of an identity provider. */
import type { Scope } from '../../core/scope.ts'
import { narrowGrants, type Reach } from '../../storage/access/narrow-grants.ts'
import type { Db } from '../../storage/database/client.ts'
import { OLD_SIGN_INS } from '../tokens/sign-in.ts'
import { allow, grantorOf } from './authorize.ts'
import { findClient, registerClient, UNUSED_CLIENTS } from './clients.ts'
import { exchangeCode, OLD_AUTHORIZATIONS, refresh, revoke } from './exchange.ts'
import { enter, settleDue, takeDue } from './people.ts'

/** The operations of persons, by their scope, and of clients, which have no token yet. */
export const openAuthorizations = (system: (requestId: string) => Scope, db: Db) => {
  const withoutToken =
    <Sent extends unknown[], Result>(run: (scope: Scope, ...sent: Sent) => Result) =>
    (requestId: string, ...sent: Sent): Result =>
      run(system(requestId), ...sent)
  return {
    allow,
    grantorOf,
    /** The part of the caller's rights that lies within the reach. */
    part: (scope: Scope, reach: Reach) => narrowGrants(scope.access.grants, reach),
    registerClient: (client: Parameters<typeof registerClient>[1]) => registerClient(db, client),
    findClient: (id: string) => findClient(db, id),
    exchangeCode: withoutToken(exchangeCode),
    refresh: withoutToken(refresh),
    enter: withoutToken(enter),
    takeDue: withoutToken(takeDue),
    settleDue: withoutToken(settleDue),
    revoke: withoutToken(revoke),
  }
}
export type Authorizations = ReturnType<typeof openAuthorizations>

/** Deletes codes, tabs, clients and people whose time is over: a bounded number of each. */
export async function sweepAuthorized(db: Db): Promise<void> {
  for (const old of [...OLD_SIGN_INS, ...OLD_AUTHORIZATIONS, UNUSED_CLIENTS])
    await db.query(old.statement, [])
}
