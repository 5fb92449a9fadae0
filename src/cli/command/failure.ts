import { type Step, stepLine } from '../../contract/change-lines.ts'
import type { Detail } from '../../foundation/errors.ts'

/** A failed command, in the error format of the API. */
type Body = {
  error: { code: string; message: string; details?: readonly Partial<Detail>[]; request_id?: string }
}

/**
 * Exit codes. `pending`: a diff found changes. `misused`: wrong usage of a command whose answer is its exit code, so that no
 * pipeline takes a mistake for an answer; it is EX_USAGE of sysexits. `interrupted`: as shells have it for SIGINT.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, pending: 2, misused: 64, interrupted: 130 } as const

export class Failure extends Error {
  readonly body: Body
  readonly exitCode: number
  /** Client-side advice on what to do next. */
  readonly advice: string | undefined

  constructor(body: Body, extra: { exitCode?: number; advice?: string | undefined; cause?: unknown } = {}) {
    super(body.error.message, { cause: extra.cause })
    this.body = body
    this.exitCode = extra.exitCode ?? EXIT.failed
    this.advice = extra.advice
  }
}

/** Wrong usage; no request was sent. */
export function misused(message: string, details: readonly Partial<Detail>[] = []): Failure {
  return new Failure({ error: { code: 'VALIDATION_ERROR', message, details } }, { exitCode: EXIT.usage })
}

/** A file that a command names cannot be read. */
export const unreadable = (file: string, error: unknown): Failure =>
  misused(`The file "${file}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)

/** No Plinth server responded. */
export function unreachable(message: string, cause?: unknown): Failure {
  return new Failure({ error: { code: 'UNREACHABLE', message, details: [] } }, { cause })
}

/** Formats a failure for a terminal, one fact per line. */
export function describe({ body: { error }, advice }: Failure): string {
  const lines = [`${error.code}: ${error.message}`]
  for (const { path, message, hint, samples } of error.details ?? []) {
    const more = message === undefined || message === error.message ? '' : `: ${message}`
    // What holds for the whole request has no place.
    const line = path ? `${path}${more}` : more.slice(': '.length)
    if (line && line !== error.message) lines.push(`  ${line}`)
    if (hint !== undefined) lines.push(`    hint: ${hint}`)
    for (const sample of samples ?? []) lines.push(...linesOf(sample))
  }
  if (advice) lines.push(`  ${advice}`)
  if (error.request_id) lines.push(`  request id: ${error.request_id}`)
  return `${lines.join('\n')}\n`
}

/** A sample as JSON; a conflict of two sides as the diff of each. */
function linesOf(sample: unknown): string[] {
  const { production, preview } = (sample ?? {}) as { production?: unknown; preview?: unknown }
  if (!Array.isArray(production) || !Array.isArray(preview)) return [`    ${JSON.stringify(sample)}`]
  return [
    ...(production as Step[]).map((step) => `    production: ${stepLine(step)}`),
    ...(preview as Step[]).map((step) => `    preview: ${stepLine(step)}`),
  ]
}

/**
 * Says what a message advises in the words of the command line: a parameter as an option, so that `force=true` is `--force`,
 * and a request as its command.
 */
export function inCommands(
  failure: Failure,
  flagOf: (parameter: string) => string | undefined,
  commandOf: (method: string, path: string) => string | undefined,
): Failure {
  const named = (text: string) =>
    text.replace(
      /\b(GET|PUT|POST|PATCH|DELETE) \/v1(\/[\w{}/-]+)/g,
      (whole, method: string, path: string) => commandOf(method, path) ?? whole,
    )
  const said = (text: string) =>
    named(text).replace(
      /\b([Ss])end ([a-z_]+)=([\w.-]*\w)/g,
      (whole, s: string, parameter: string, value: string) => {
        const flag = flagOf(parameter)
        return flag === undefined ? whole : `${s === 'S' ? 'P' : 'p'}ass ${flag.replace(/<.*>$/, value)}`
      },
    )
  const { error } = failure.body
  const details = error.details?.map(({ path, message, hint, ...detail }) => ({
    ...detail,
    ...(hint !== undefined && { hint: named(hint) }),
    // A place in the address is an option here.
    ...(path !== undefined && {
      path: path.replace(
        /^query\/(\w+)(?=\/|$)/,
        (whole, name: string) => flagOf(name)?.match(/--\S+/)?.[0] ?? whole,
      ),
    }),
    ...(message !== undefined && { message: said(message) }),
  }))
  const { exitCode, advice } = failure
  const body = { error: { ...error, message: said(error.message), ...(details && { details }) } }
  return new Failure(body, { exitCode, advice, cause: failure })
}

/** Converts any thrown value to a Failure. Unexpected errors are described by their chain of messages. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  const messages: string[] = []
  for (let error = thrown; error instanceof Error && messages.length < 5; error = error.cause)
    messages.push(error.message)
  const message = messages.join(': ') || String(thrown)
  return new Failure({ error: { code: 'INTERNAL_ERROR', message, details: [] } }, { cause: thrown })
}
