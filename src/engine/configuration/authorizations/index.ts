/** What sign-in stores: clients, what persons allow them, and persons of an identity provider. */
import type { Scope } from '../../core/scope.ts'
import { narrowGrants, type Reach } from '../../storage/access/narrow-grants.ts'
import type { Db } from '../../storage/database/client.ts'
import { allow, grantorOf } from './authorize.ts'
import { findClient, registerClient, sweepClients } from './clients.ts'
import { exchangeCode, refresh, revoke, sweepAuthorizations } from './exchange.ts'
import { enter, type Identity, settleDue, takeDue } from './people.ts'

/** The operations of persons, by their scope, and of clients, which have no token yet. */
export const openAuthorizations = (system: (requestId: string) => Scope, db: Db) => ({
  allow,
  grantorOf,
  /** The part of the caller's rights that lies within the reach. */
  part: (scope: Scope, reach: Reach) => narrowGrants(scope.access.grants, reach),
  registerClient: (client: Parameters<typeof registerClient>[1]) => registerClient(db, client),
  findClient: (id: string) => findClient(db, id),
  exchangeCode: (sent: Parameters<typeof exchangeCode>[1], requestId: string) =>
    exchangeCode(system(requestId), sent),
  refresh: (sent: Parameters<typeof refresh>[1], requestId: string) => refresh(system(requestId), sent),
  enter: (identity: Identity, requestId: string) => enter(system(requestId), identity),
  takeDue: (by: Parameters<typeof takeDue>[1], requestId: string) => takeDue(system(requestId), by),
  settleDue: (
    due: Parameters<typeof settleDue>[1],
    outcome: Parameters<typeof settleDue>[2],
    requestId: string,
  ) => settleDue(system(requestId), due, outcome),
  revoke: (sent: Parameters<typeof revoke>[1], requestId: string) => revoke(system(requestId), sent),
})
export type Authorizations = ReturnType<typeof openAuthorizations>

export async function sweepAuthorized(db: Db): Promise<void> {
  await sweepAuthorizations(db)
  await sweepClients(db)
}
