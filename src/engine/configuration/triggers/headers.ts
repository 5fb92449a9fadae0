/** Headers that a trigger sends along. */
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import type { Db } from '../../database/client.ts'
import { referenceFaults, secretsIn } from '../vault-secrets/index.ts'

type Headers = Readonly<Record<string, string>>

/** Headers of the connection, and those that a delivery sets itself. */
const OWN =
  /^(host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|user-agent|proxy-.*|webhook-.*)$/i
const CREDENTIAL = /^(authorization|cookie|.*(api-?key|token|secret).*)$/i

/** Finds headers that a trigger cannot set. */
export function headerFaults(headers: Headers): Detail[] {
  const names = Object.keys(headers)
  return names.flatMap((name, n): Detail[] => {
    const path = `/headers${pointer(name)}`
    if (OWN.test(name))
      return [
        { path, code: 'reserved_header', message: `"${name}" is set by the delivery itself. Leave it out.` },
      ]
    if (names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) < n)
      return [
        { path, code: 'duplicate', message: `"${name}" is there twice, in another case. Send it once.` },
      ]
    return []
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
