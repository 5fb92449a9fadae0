/** Every way a request can fail: one row here is the whole story of a failure on every surface. */
export const FAILURES = {
  VALIDATION_ERROR: { status: 400, title: 'The request is not valid' },
  UNAUTHORIZED: { status: 401, title: 'The token is missing or invalid' },
  FORBIDDEN: { status: 403, title: 'The token lacks the permission or scope' },
  NOT_FOUND: { status: 404, title: 'The resource does not exist' },
  CONFLICT: { status: 409, title: 'The request collides with the current state' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, title: 'Something broke on our side' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

/** One cause of a failure. `path` is a JSON Pointer into the body, or `path/<name>`, `query/<name>`, `header/<name>`. */
export type Detail = {
  path: string
  code: string
  message: string
  expected?: unknown
  received?: unknown
  allowed?: readonly unknown[]
  hint?: string
  count?: number
  samples?: readonly unknown[]
}

type Extra = { details?: readonly Detail[]; cause?: unknown; retryAfterSeconds?: number; requestId?: string }

export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: FailureCode
  readonly details: readonly Detail[]
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Set on a replayed failure: the id of the request that failed first. */
  readonly requestId: string | undefined

  constructor(code: FailureCode, message: string, extra: Extra = {}) {
    super(bounded(message), { cause: extra.cause })
    this.code = code
    this.details = (extra.details ?? []).map(boundedDetail)
    this.retryAfterSeconds = extra.retryAfterSeconds
    this.requestId = extra.requestId
  }

  /** graphql-js copies `extensions` from the original error, so the engine needs no GraphQL import. */
  get extensions(): Record<string, unknown> {
    return { code: this.code, details: this.details }
  }
}

const MOST_WORDS = 2000

/** Callers choose the names that a refusal repeats: of what cannot be one, it repeats the start. */
const bounded = (text: string): string => (text.length > MOST_WORDS ? `${text.slice(0, 200)}…` : text)

function boundedDetail(detail: Detail): Detail {
  const { path, message, received, hint } = detail
  const isLong = [path, message, received, hint].some(
    (part) => typeof part === 'string' && part.length > MOST_WORDS,
  )
  if (!isLong) return detail
  const { hint: _, ...rest } = detail
  return {
    ...rest,
    path: bounded(path),
    message: bounded(message),
    ...(typeof received === 'string' && { received: bounded(received) }),
    // A correction is whole or none.
    ...(hint !== undefined && hint.length <= MOST_WORDS && { hint }),
  }
}

/** A 400 with its causes; the message is the first cause's. */
export function invalid(...details: [Detail, ...Detail[]]): DomainError {
  return new DomainError('VALIDATION_ERROR', details[0].message, { details })
}

/** The same failure with the paths of its details rewritten; what is not ours passes through. */
export function withPaths(thrown: unknown, rewrite: (path: string) => string): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const { code, message, cause, retryAfterSeconds, requestId } = thrown
  const details = thrown.details.map((detail) => ({ ...detail, path: rewrite(detail.path) }))
  return new DomainError(code, message, {
    details,
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(requestId !== undefined && { requestId }),
  })
}

/** The body every surface answers a failure with. */
export function errorBody(error: DomainError, requestId: string) {
  return {
    error: {
      code: error.code,
      message: error.message,
      details: error.details,
      request_id: error.requestId ?? requestId,
    },
  }
}

/** What a caller may see of anything thrown: our own errors as they are, all else as an opaque 500. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown
  return new DomainError(
    'INTERNAL_ERROR',
    'Something broke on our side. The request id names it in the log.',
    {
      cause: thrown,
    },
  )
}
