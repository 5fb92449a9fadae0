/** Failures by the codes of RFC 6749, 7591 and 8707, which are the code of their detail. */
import { DomainError } from '../../foundation/errors.ts'

type OAuthCode =
  | `invalid_${'request' | 'client' | 'grant' | 'target' | 'redirect_uri' | 'client_metadata'}`
  | `unsupported_${'grant' | 'response'}_type`

class Refusal extends DomainError {}

export const refused = (code: OAuthCode, message: string, path = ''): DomainError =>
  new Refusal('VALIDATION_ERROR', message, { details: [{ path, code, message }] })

const CODES: Readonly<Partial<Record<DomainError['code'], string>>> = {
  RATE_LIMITED: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
  FORBIDDEN: 'access_denied',
}

/** RFC 6749 and 6750 forbid quotes and backslashes in the description of an error. */
export const quotable = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '')

/** A failure as the body that clients read (RFC 6749, section 5.2). */
export function oauthBody(error: DomainError) {
  return {
    error: error instanceof Refusal ? error.details[0]?.code : (CODES[error.code] ?? 'invalid_request'),
    error_description: quotable(error.message),
  }
}
