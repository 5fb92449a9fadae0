import { TokenBody } from '../contract/shapes.ts'
import { check } from '../contract/validate.ts'
import { DomainError } from '../foundation/errors.ts'
import { parseJson, pointer } from '../json/index.ts'

/** The JWT claim with the grants. */
const CLAIM = 'plinth_grants'
const WHERE = 'header/Authorization'
const Grants = TokenBody.shape.grants

/**
 * Parses the grants claim: a list, or a JSON text of one, as in POST /v1/tokens.
 * @throws FORBIDDEN if the claim is missing or invalid, with every fault
 */
export function grantsOf(claims: Record<string, unknown>) {
  const claim = claims[CLAIM]
  if (claim === undefined)
    throw refused(`The token has no "${CLAIM}" claim and therefore no permissions.`, [
      {
        path: WHERE,
        code: 'no_grants',
        message: `Configure the issuer to add the claim "${CLAIM}": [{ base, record_type, environment, permission }].`,
      },
    ])
  try {
    const value = typeof claim === 'string' ? parseJson(claim, `${WHERE}/${CLAIM}`) : claim
    return check(Grants, value, (path) => `${WHERE}${pointer(CLAIM, ...path.map(String))}`)
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    throw refused(`The claim "${CLAIM}" of the token is not a list of grants.`, thrown.details)
  }
}

const refused = (message: string, details: DomainError['details']) =>
  new DomainError('FORBIDDEN', message, { details })
