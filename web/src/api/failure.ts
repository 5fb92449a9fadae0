/** A refusal of the server, in its own words. */
import type { ErrorDetail } from './shapes.ts'

/** `samples` are records of many that are concerned. */
export type Detail = Omit<ErrorDetail, 'samples'> & { samples?: Sample[] }
export type Sample = { id: string; path: string; message: string }

export class Failure extends Error {
  readonly status: number
  readonly code: string
  readonly details: readonly Detail[]
  readonly requestId: string | undefined
  /** Seconds after which the server takes the request again. */
  readonly retryAfter: number | undefined

  constructor(
    status: number,
    error: { code: string; message: string; details?: readonly Detail[]; request_id?: string },
    retryAfter?: number,
  ) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.details = error.details ?? []
    this.requestId = error.request_id
    this.retryAfter = retryAfter
  }
}

/** No answer at all: the server or the network is away. */
export const OFFLINE = 0

/** The server is not there, or has no time: another try can have an answer. */
export const isAway = (error: unknown): boolean =>
  error instanceof Failure && (error.status === OFFLINE || error.status >= 502)

/** It says nothing against what was read before. */
export const isPassing = (error: Failure): boolean => isAway(error) || [401, 429].includes(error.status)

export async function failureOf(answer: Response): Promise<Failure> {
  const wait = Number(answer.headers.get('retry-after')) || undefined
  try {
    const { error } = (await answer.json()) as { error: ConstructorParameters<typeof Failure>[1] }
    return new Failure(answer.status, error, wait)
  } catch {
    // A proxy between answers in words of its own.
    return new Failure(answer.status, { code: String(answer.status), message: answer.statusText }, wait)
  }
}
