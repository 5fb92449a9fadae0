import { DomainError } from '../../foundation/errors.ts'
import type { WriteScope } from '../write/write.ts'
import { type Ingested, ingest } from './ingest.ts'
import type { Delivery } from './open-delivery.ts'

/**
 * Writes the records of the delivery that the request brought, whose signature was checked.
 * @throws FORBIDDEN without one; what `ingest` throws
 */
export async function ingestVerified(scope: WriteScope, baseId: string, id: string): Promise<Ingested> {
  const delivery = scope.delivery as Delivery | undefined
  if (delivery?.webhook.baseId !== baseId || delivery.webhook.id !== id) throw notSigned()
  return ingest(scope, delivery)
}

const notSigned = () =>
  new DomainError('FORBIDDEN', 'A delivery comes to the ingest_url of the inbound webhook, signed.', {
    details: [
      {
        path: '',
        code: 'not_signed',
        message: 'Send it there. To write records with a token, use the operations of records.',
      },
    ],
  })
