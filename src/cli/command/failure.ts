import type { Detail } from '../../foundation/errors.ts'

/** Why a command did not succeed, in the form the API answers a failure with. */
type Body = {
  error: { code: string; message: string; details?: readonly Partial<Detail>[]; request_id?: string }
}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

export class Failure extends Error {
  readonly body: Body
  readonly exitCode: number
  /** What to do next, where the client knows more than the server said. */
  readonly advice: string | undefined

  constructor(body: Body, extra: { exitCode?: number; advice?: string | undefined; cause?: unknown } = {}) {
    super(body.error.message, { cause: extra.cause })
    this.body = body
    this.exitCode = extra.exitCode ?? EXIT.failed
    this.advice = extra.advice
  }
}

/** The command was written wrong; nothing was sent. */
export function misused(message: string, details: readonly Partial<Detail>[] = []): Failure {
  return new Failure({ error: { code: 'VALIDATION_ERROR', message, details } }, { exitCode: EXIT.usage })
}

/** No answer came from a Plinth server. */
export function unreachable(message: string, cause?: unknown): Failure {
  return new Failure({ error: { code: 'UNREACHABLE', message, details: [] } }, { cause })
}

/** The failure for a reader, one fact a line. */
export function describe({ body: { error }, advice }: Failure): string {
  const lines = [`${error.code}: ${error.message}`]
  for (const { path, message, hint, samples } of error.details ?? []) {
    const more = message === undefined || message === error.message ? '' : `: ${message}`
    lines.push(`  ${path || '(body)'}${more}`)
    if (hint !== undefined) lines.push(`    hint: ${hint}`)
    for (const sample of samples ?? []) lines.push(`    ${JSON.stringify(sample)}`)
  }
  if (advice) lines.push(`  ${advice}`)
  if (error.request_id) lines.push(`  request id: ${error.request_id}`)
  return `${lines.join('\n')}\n`
}

/** The failure in anything thrown. What nobody expected is told by its message and those of its causes. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  const messages: string[] = []
  for (let error = thrown; error instanceof Error && messages.length < 5; error = error.cause)
    messages.push(error.message)
  const message = messages.join(': ') || String(thrown)
  return new Failure({ error: { code: 'INTERNAL_ERROR', message, details: [] } }, { cause: thrown })
}
