import { HTTP_REQUESTS, nameRequests, type RequestNames } from './advised-requests.ts'
import { LIMITS } from './limits.ts'

/** The table of failure codes, each with its HTTP status and title. Every surface uses it. */
export const FAILURES = {
  VALIDATION_ERROR: { status: 400, title: 'The request is not valid' },
  UNAUTHORIZED: { status: 401, title: 'The token is missing or invalid' },
  FORBIDDEN: { status: 403, title: 'The token lacks the permission or scope' },
  NOT_FOUND: { status: 404, title: 'The resource does not exist' },
  CONFLICT: { status: 409, title: 'The request conflicts with the current state' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, title: 'Internal error' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

/**
 * One cause of a failure. `path` is a JSON Pointer into the body, or `path/<name>`, `query/<name>`,
 * `header/<name>`.
 */
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
  /** The run of an action that failed. */
  run_id?: string
}

type Extra = {
  details?: readonly Detail[]
  total?: number
  cause?: unknown
  retryAfterSeconds?: number
  requestId?: string
  isUpstream?: boolean
}

export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: FailureCode
  readonly details: readonly Detail[]
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Set on a replayed failure: the id of the original request. */
  readonly requestId: string | undefined
  /** Another system failed, and not this server: the details say how, and a stack would not help. */
  readonly isUpstream: boolean

  constructor(code: FailureCode, message: string, extra: Extra = {}) {
    super(bounded(message), { cause: extra.cause })
    this.code = code
    this.details = capped(extra.details ?? [], extra.total).map(boundedDetail)
    this.retryAfterSeconds = extra.retryAfterSeconds
    this.requestId = extra.requestId
    this.isUpstream = extra.isUpstream ?? false
  }

  /** graphql-js copies `extensions` from the original error, so the engine needs no GraphQL import. */
  get extensions(): Record<string, unknown> {
    return { code: this.code, details: this.details }
  }
}

/** Code of the item that counts the omitted details. */
const MORE = 'more_faults'
const SHOWN_BESIDE_MORE = LIMITS.errorDetails - 1

/**
 * Caps a list of details at `LIMITS.errorDetails`. If there are more, the last item has the total. Producers
 * stop early, so `total` can exceed the length of the list.
 */
export function capped(details: readonly Detail[], total = faultsIn(details)): Detail[] {
  const shown = withoutCount(details)
  if (total <= LIMITS.errorDetails) return shown
  const message = `There are at least ${total} faults; the first ${SHOWN_BESIDE_MORE} are listed. Correct these and all others of the same kind.`
  return [...shown.slice(0, SHOWN_BESIDE_MORE), { path: '', code: MORE, message, count: total }]
}

/** The details without the item that counts the omitted ones. */
export const withoutCount = (details: readonly Detail[]): Detail[] =>
  details.filter(({ code }) => code !== MORE)

/** The number of faults that a list of details represents, including the omitted ones. */
export const faultsIn = (details: readonly Detail[]): number =>
  details.reduce((sum, { code, count }) => sum + (code === MORE ? (count ?? 1) - SHOWN_BESIDE_MORE : 1), 0)

const MOST_WORDS = 2000

/** Truncates caller-supplied text that an error repeats. */
const bounded = (text: string): string => (text.length > MOST_WORDS ? `${text.slice(0, 200)}…` : text)

function boundedDetail(detail: Detail): Detail {
  const { path, message, received, expected, hint, allowed } = detail
  const isLong = [path, message, received, hint].some(
    (part) => typeof part === 'string' && part.length > MOST_WORDS,
  )
  const isWide = isLongValue(expected) || (allowed !== undefined && !isShortList(allowed))
  if (!isLong && !isWide) return detail
  const { hint: _, expected: __, ...rest } = detail
  return {
    ...rest,
    path: bounded(path),
    message: bounded(message),
    ...(typeof received === 'string' && { received: bounded(received) }),
    ...(expected !== undefined && !isLongValue(expected) && { expected }),
    ...(allowed && { allowed: shortList(allowed) }),
    // Omit a hint that is too long: a truncated correction is useless.
    ...(hint !== undefined && hint.length <= MOST_WORDS && { hint }),
  }
}

const charsOf = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value).length
      : 8
const isLongValue = (value: unknown): boolean => charsOf(value) > LIMITS.errorAllowedChars

const isShortList = (list: readonly unknown[]): boolean => shortList(list).length === list.length

/** Truncates a list of allowed values by count and by characters. */
function shortList(list: readonly unknown[]): readonly unknown[] {
  let chars = 0
  const most = list.slice(0, LIMITS.errorAllowed)
  const end = most.findIndex((value) => {
    chars += charsOf(value)
    return chars > LIMITS.errorAllowedChars
  })
  return end < 0 ? most : most.slice(0, end)
}

/** Creates a VALIDATION_ERROR (400) from its details. The first detail is the message. */
export function invalid(...details: [Detail, ...Detail[]]): DomainError {
  return new DomainError('VALIDATION_ERROR', details[0].message, { details })
}

/** Creates an error with one detail, which repeats the message if it has none of its own. */
export function oneFault(
  code: FailureCode,
  message: string,
  { path, code: fault, ...more }: Omit<Detail, 'message'> & { message?: string },
): DomainError {
  return new DomainError(code, message, { details: [{ path, code: fault, message, ...more }] })
}

/** Creates an INTERNAL_ERROR (500) for the failure of a system that a request of this server went to. */
export const upstreamFailure = (message: string, details: readonly Detail[]): DomainError =>
  new DomainError('INTERNAL_ERROR', message, { details, isUpstream: true })

/** The work waited for its turn, and has not begun. */
export class NotBegun extends DomainError {}

/** Value of `Retry-After`. */
const BUSY_SECONDS = 1

/** Creates a RATE_LIMITED error (429) for a temporary lack of capacity. `advice` says how to need less. */
export function busy(why: string, advice: string, Kind = DomainError): DomainError {
  return new Kind('RATE_LIMITED', `${why} Try again in ${BUSY_SECONDS} s.`, {
    retryAfterSeconds: BUSY_SECONDS,
    details: [{ path: '', code: 'busy', message: advice }],
  })
}

/** Rewrites the paths of the details of a DomainError. Other errors pass through. */
export function withPaths(thrown: unknown, rewrite: (path: string) => string): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const details = thrown.details.map((detail) =>
    detail.code === MORE ? detail : { ...detail, path: rewrite(detail.path) },
  )
  return restated(thrown, { details })
}

/** The same failure with other details, another message or another code. */
export function restated(
  error: DomainError,
  {
    code = error.code,
    message = error.message,
    details = error.details,
  }: { code?: FailureCode; message?: string; details?: readonly Detail[] },
): DomainError {
  const { cause, retryAfterSeconds, requestId, isUpstream } = error
  return new DomainError(code, message, {
    details,
    cause,
    isUpstream,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(requestId !== undefined && { requestId }),
  })
}

/** The details of the VALIDATION_ERROR that an attempt throws, to report them together with others; none if it succeeds. */
export function detailsThrownBy(attempt: () => unknown): readonly Detail[] {
  try {
    attempt()
    return []
  } catch (thrown) {
    if (thrown instanceof DomainError && thrown.code === 'VALIDATION_ERROR') return thrown.details
    throw thrown
  }
}

/** The error body that all surfaces return. `words` name the requests that messages advise. */
export function errorBody(error: DomainError, requestId: string, words: RequestNames = HTTP_REQUESTS) {
  return {
    error: {
      code: error.code,
      message: nameRequests(error.message, words),
      details: error.details.map((each) => ({
        ...each,
        message: nameRequests(each.message, words),
        ...(each.hint !== undefined && { hint: nameRequests(each.hint, words) }),
      })),
      request_id: error.requestId ?? requestId,
    },
  }
}

/** Maps any thrown value to a DomainError. Unknown errors become an opaque 500. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown
  return new DomainError(
    'INTERNAL_ERROR',
    'Internal error. The server log has the details under this request id.',
    {
      cause: thrown,
    },
  )
}
