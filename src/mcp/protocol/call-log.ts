import { hexDigest } from '../../contract/canonical-hash.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { CLIENT_GONE, readTrace, type Said } from '../../http/request-log.ts'
import { bounded } from './call-origin.ts'
import { failureCodeOf } from './content.ts'
import { parseResourceUri } from './resource-uri.ts'

type Wire = Readonly<Record<string, unknown>>

/** Access log of the JSON-RPC messages in one POST: method, subject, digest of the arguments, and outcome. */
export class Calls {
  readonly #body: unknown
  readonly #outcomes = new Map<unknown, string>()

  constructor(body: unknown) {
    this.#body = body
  }
  answered(id: string | number, answer: object): void {
    this.#outcomes.set(id, outcomeOf(answer as Wire))
  }
  /** The log entries, one for each message, given the HTTP status of the POST. Each is made when it is asked for. */
  *lines(status: number): Generator<Said> {
    const messages: unknown[] = Array.isArray(this.#body) ? this.#body : [this.#body]
    // The server rejects batches above the limit without reading them.
    const logged = messages.length > LIMITS.mcpBatch || messages.length === 0 ? [undefined] : messages
    const missing = status >= 400 && status !== CLIENT_GONE ? 'refused' : 'cancelled'
    for (const message of logged) yield isWire(message) ? lineOf(message, this.#outcomes, missing) : {}
  }
}

function lineOf({ method, params, id }: Wire, outcomes: ReadonlyMap<unknown, string>, missing: string): Said {
  // A message without a method is a response to a server request.
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

/** Logs the name, but only a digest of arguments and URIs, because they may contain sensitive data. */
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

/** Returns `ok` or a failure code: the REST error code for a failed call, else the JSON-RPC code. */
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
