/** Failures by the codes of RFC 6749, 7591 and 8707, which are the code of their detail. */
import { DomainError } from '../../foundation/errors.ts'

const OWN = [
  ...([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'invalid_target',
    'invalid_redirect_uri',
  ] as const),
  ...(['invalid_client_metadata', 'unsupported_grant_type', 'unsupported_response_type'] as const),
]
type OAuthCode = (typeof OWN)[number]

export const refused = (code: OAuthCode, message: string, path = ''): DomainError =>
  new DomainError('VALIDATION_ERROR', message, { details: [{ path, code, message }] })

const CODES: Readonly<Partial<Record<DomainError['code'], string>>> = {
  RATE_LIMITED: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
  FORBIDDEN: 'access_denied',
}

/** RFC 6749 and 6750 forbid quotes and backslashes in the description of an error. */
export const quotable = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '')

/** A failure as the body that clients read (RFC 6749, section 5.2). */
export function oauthBody(error: DomainError) {
  const own = OWN.find((code) => error.code === 'VALIDATION_ERROR' && code === error.details[0]?.code)
  return {
    error: own ?? CODES[error.code] ?? 'invalid_request',
    error_description: quotable(error.message),
  }
}
