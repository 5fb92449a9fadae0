/** Headers that a trigger sends along. */
import { headerNameFault } from '../../../contract/outgoing-headers.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import type { Db } from '../../storage/database/client.ts'
import { referenceFaults, secretsIn } from '../vault-secrets/index.ts'

type Headers = Readonly<Record<string, string>>

const OF_DELIVERY = /^(content-type|user-agent|webhook-.*)$/i
const CREDENTIAL = /^(authorization|cookie|.*(api-?key|token|secret).*)$/i

/** Finds headers that a trigger cannot set. */
export function headerFaults(headers: Headers): Detail[] {
  const names = Object.keys(headers)
  return names.flatMap((name, n): Detail[] => {
    const fault = headerNameFault(names, n, { sender: 'delivery', own: OF_DELIVERY })
    return fault ? [{ path: `/headers${pointer(name)}`, ...fault }] : []
  })
}

/** Finds secrets that headers refer to and that the base cannot name. */
export const headerSecretFaults = (db: Db, baseId: string, headers: Headers): Promise<Detail[]> =>
  referenceFaults(
    db,
    baseId,
    Object.entries(headers).map(([name, text]) => ({ path: `/headers${pointer(name)}`, text })),
  )

/** Warns of credentials, because a token that can read the configuration can read headers. */
export const headerWarnings = (headers: Headers): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    CREDENTIAL.test(name) && secretsIn(value).length === 0
      ? [
          `The header "${name}" looks like a credential. Any token that can read the configuration can read it.`,
        ]
      : [],
  )
