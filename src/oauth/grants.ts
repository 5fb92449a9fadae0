import { TokenBody } from '../contract/shapes.ts'
import { check } from '../contract/validate.ts'
import { DomainError } from '../foundation/errors.ts'
import { parseJson, pointer } from '../json/index.ts'

/** The claim that says what a token of the issuer may do here. */
const CLAIM = 'plinth_grants'
const WHERE = 'header/Authorization'
const Grants = TokenBody.shape.grants

/**
 * The grants that a token carries, as a list or as the text of one, in the form that POST /v1/tokens takes.
 * @throws FORBIDDEN without the claim, or with every fault of its form
 */
export function grantsOf(claims: Record<string, unknown>) {
  const claim = claims[CLAIM]
  if (claim === undefined)
    throw refused(`The token carries no "${CLAIM}", so it may do nothing here.`, [
      {
        path: WHERE,
        code: 'no_grants',
        message: `Let the issuer add the claim "${CLAIM}": [{ base, record_type, environment, permission }].`,
      },
    ])
  try {
    const value = typeof claim === 'string' ? parseJson(claim, `${WHERE}/${CLAIM}`) : claim
    return check(Grants, value, (path) => `${WHERE}${pointer(CLAIM, ...path.map(String))}`)
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    throw refused(`The claim "${CLAIM}" of the token does not have the form of grants.`, thrown.details)
  }
}

const refused = (message: string, details: DomainError['details']) =>
  new DomainError('FORBIDDEN', message, { details })
