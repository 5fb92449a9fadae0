/** Access tokens of an OAuth issuer, checked here and used as sessions like those of API tokens. */
import { decodeJwt, errors, type JWTHeaderParameters, type JWTPayload } from 'jose'
import type { OAuth } from '../config/read-config.ts'
import { TokenBody } from '../contract/shapes.ts'
import { check } from '../contract/validate.ts'
import type { Principal } from '../engine/engine.ts'
import { DomainError, oneFault } from '../foundation/errors.ts'
import { nameIn } from '../foundation/invisible-characters.ts'
import { LIMITS } from '../foundation/limits.ts'
import { parseJson, pointer } from '../json/parse.ts'
import { discoverKeys, keyRing, verify } from './keys.ts'

/** Asymmetric signature algorithms only: no shared secrets and no `none`. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** Accepted `typ` headers: RFC 9068 access tokens, and plain JWTs of less specific issuers. */
const TYPES = ['at+jwt', 'application/at+jwt', 'jwt']
/** End of the year 9999. Later times are invalid. */
const LAST_SECOND = 253_402_300_799

/** The trusted OAuth issuer. */
export function openIssuer({ issuer, audience }: OAuth) {
  const keys = keyRing(() => discoverKeys(issuer))
  const options = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: LIMITS.clockToleranceSeconds,
    requiredClaims: ['exp', 'sub'],
  }
  return {
    /** Whether the token's `iss` names this issuer. Not verified; `principal` verifies. */
    isNamedBy: (token: string): boolean => {
      try {
        return decodeJwt(token).iss === issuer
      } catch {
        return false
      }
    },
    /**
     * Verifies a token.
     * @throws UNAUTHORIZED, FORBIDDEN without grants, INTERNAL_ERROR while the keys of the issuer cannot be loaded
     */
    principal: async (token: string): Promise<Principal> => {
      try {
        const { payload, protectedHeader } = await verify(token, keys, options)
        return principalOf(issuer, payload, protectedHeader)
      } catch (error) {
        if (error instanceof errors.JOSEError) throw unauthorized(reasonOf(error, audience))
        throw error
      }
    },
  }
}

function principalOf(issuer: string, claims: JWTPayload, { typ }: JWTHeaderParameters): Principal {
  const { sub: subject = '', exp = 0, client_id: client, azp } = claims
  if (typ !== undefined && !TYPES.includes(typ.toLowerCase()))
    throw unauthorized('The token is not an access token.')
  if (typeof subject !== 'string' || subject === '') throw unauthorized('The token has no subject.')
  const expiresAt = new Date((Math.min(exp, LAST_SECOND) + LIMITS.clockToleranceSeconds) * 1000)
  const by = [client, azp].find((each) => typeof each === 'string')
  return { issuer, subject, name: nameOf(subject, by), grants: grantsOf(claims), expiresAt }
}

/** Display name for the change log: the subject, and the client if it differs. */
function nameOf(subject: string, client: string | undefined): string {
  const name = client === undefined || client === subject ? subject : `${subject} (${client})`
  return nameIn(name, LIMITS.nameChars / 2) || 'unnamed'
}

/** Reason for a refusal. Mentions claims only if the signature is valid. */
function reasonOf(error: errors.JOSEError, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return `The token is not for ${JSON.stringify(audience)}.`
    if (error.claim === 'nbf') return 'The token is not valid yet.'
    return `The token has no "${error.claim}" that can be used.`
  }
  return 'The signature of the token is not valid.'
}

const unauthorized = (message: string) =>
  oneFault('UNAUTHORIZED', message, {
    path: 'header/Authorization',
    code: 'invalid_token',
    message: 'Ask the issuer for a new access token for this server.',
  })

/** The JWT claim with the grants. */
const CLAIM = 'plinth_grants'
const WHERE = 'header/Authorization'
const Grants = TokenBody.shape.grants

/**
 * Parses the grants claim: a list, or a JSON text of one, as in POST /v1/tokens.
 * @throws FORBIDDEN if the claim is missing or invalid, with every fault
 */
function grantsOf(claims: Record<string, unknown>) {
  const claim = claims[CLAIM]
  if (claim === undefined)
    throw refused(`The token has no "${CLAIM}" claim and therefore no permissions.`, [
      {
        path: WHERE,
        code: 'no_grants',
        message: `Configure the issuer to add the claim "${CLAIM}": [{ base, record_type, environment, permission }], with endpoint in place of record_type to reach endpoints only.`,
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
