import { hexDigest } from '../../contract/canonical-hash.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { CLIENT_GONE, type Said } from '../../http/request-log.ts'
import { readTrace } from '../../http/trace-context.ts'
import { failureCodeOf } from './content.ts'
import { parseResourceUri } from './resource-uri.ts'

type Wire = Readonly<Record<string, unknown>>

/** The messages of one POST as the log tells of them: what was called, with what, by digest, and what became of it. */
export class Calls {
  readonly #body: unknown
  readonly #outcomes = new Map<unknown, string>()

  constructor(body: unknown) {
    this.#body = body
  }
  answered(id: string | number, answer: object): void {
    this.#outcomes.set(id, outcomeOf(answer as Wire))
  }
  /** One for each message, when the POST was answered with this status. */
  lines(status: number): readonly Said[] {
    const messages: unknown[] = Array.isArray(this.#body) ? this.#body : [this.#body]
    // No batch of that size was read.
    if (messages.length === 0 || messages.length > LIMITS.mcpBatch) return [{}]
    const missing = status >= 400 && status !== CLIENT_GONE ? 'refused' : 'cancelled'
    return messages.map((message) => (isWire(message) ? lineOf(message, this.#outcomes, missing) : {}))
  }
}

function lineOf({ method, params, id }: Wire, outcomes: ReadonlyMap<unknown, string>, missing: string): Said {
  // What has no method answers a question of ours.
  if (typeof method !== 'string') return {}
  const given = isWire(params) ? params : {}
  const meta = isWire(given['_meta']) ? given['_meta'] : {}
  return {
    rpc_method: bounded(method),
    ...subjectOf(method, given),
    ...(id !== undefined && { outcome: outcomes.get(id) ?? missing }),
    trace: readTrace(meta['traceparent'], meta['tracestate']),
  }
}

/** What is named, and of the rest the digest: arguments and addresses may hold what belongs in no log. */
function subjectOf(method: string, { name, uri, arguments: args = {} }: Wire): Record<string, unknown> {
  switch (method) {
    case 'tools/call':
      return { ...named('tool', name), arguments_sha256: hexDigest(args) }
    case 'prompts/get':
      return { ...named('prompt', name), arguments_sha256: hexDigest(args) }
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return typeof uri === 'string'
        ? { resource: parseResourceUri(uri)?.kind ?? 'unknown', arguments_sha256: hexDigest({ uri }) }
        : {}
    default:
      return {}
  }
}

const named = (key: string, name: unknown) => (typeof name === 'string' ? { [key]: bounded(name) } : {})

/** The client makes names up as it likes: of one that is long the start, and what no terminal should be sent escaped. */
const bounded = (name: string): string =>
  name
    .slice(0, LIMITS.loggedNameChars)
    .replace(/(?! )[\p{C}\p{Z}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)

/** `ok`, or the code of the failure: REST's where it is one of a call. */
function outcomeOf({ error, result }: Wire): string {
  if (isWire(error)) {
    const { code, data } = error as { code: number; data?: { error?: { code?: string } } }
    return data?.error?.code ?? String(code)
  }
  if (!isWire(result)) return 'ok'
  if (result['isError'] === true) return failureCodeOf(result)
  return result['resultType'] === 'input_required' ? 'input_required' : 'ok'
}

const isWire = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
