import { DomainError } from '../../../foundation/errors.ts'

/** The single account of an installation. */
const ACCOUNT_ID = 'default'

/**
 * Checks the account id.
 * @throws NOT_FOUND for another account
 */
export function requireAccount(id: string): void {
  if (id === ACCOUNT_ID) return
  throw new DomainError('NOT_FOUND', `There is no account "${id.slice(0, 64)}".`, {
    details: [
      {
        path: '/account_id',
        code: 'account_not_found',
        message: `The account of this installation is "${ACCOUNT_ID}".`,
        hint: ACCOUNT_ID,
      },
    ],
  })
}
