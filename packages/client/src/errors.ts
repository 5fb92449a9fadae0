/** A part of a request that is wrong: where, why, and what to send instead. */
export type Detail = { path: string; code: string; message: string; allowed?: unknown[]; hint?: string }

type Body = { error: { code: string; message: string; details?: Detail[]; request_id?: string } }

/** A request that the server refused, or that got no answer (code `UNREACHABLE`, status 0). */
export class PlinthError extends Error {
  override readonly name = 'PlinthError'
  /** Such as `NOT_FOUND`, `CONFLICT`, `VALIDATION_ERROR`. */
  readonly code: string
  readonly status: number
  readonly details: readonly Detail[]
  readonly requestId: string | undefined

  constructor(status: number, { error }: Body, cause?: unknown) {
    super(error.message, { cause })
    this.code = error.code
    this.status = status
    this.details = error.details ?? []
    this.requestId = error.request_id
  }
}

/** The error of a response. A proxy may answer with something else than JSON. */
export function errorOf(status: number, text: string): PlinthError {
  try {
    const body = JSON.parse(text) as Partial<Body> | null
    if (typeof body?.error?.code === 'string') return new PlinthError(status, body as Body)
  } catch {}
  const message = `The server answered ${status} without an error of Plinth. Check the url.`
  return new PlinthError(status, { error: { code: 'UNREACHABLE', message } })
}

export const unreachable = (url: string, cause: unknown): PlinthError =>
  new PlinthError(0, { error: { code: 'UNREACHABLE', message: `${url} gave no answer.` } }, cause)
