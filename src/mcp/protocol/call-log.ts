import { hexDigest } from '../../contract/canonical-hash.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type CallEnd, type FoundCall, REFUSED } from '../../http/record-calls.ts'
import { CLIENT_GONE, readTrace, type Said } from '../../http/request-log.ts'
import { bounded } from './call-origin.ts'
import { failureIn } from './content.ts'
import { parseResourceUri } from './resource-uri.ts'

type Wire = Readonly<Record<string, unknown>>

/** How a call ended: `ok` or the code of a failure, its message, and how long it took. */
type Outcome = { readonly code: string; readonly message: string | null; readonly ms: number }

/** The JSON-RPC messages in one POST, for the access log and for the calls of the base. */
export class Calls {
  readonly #body: unknown
  readonly #outcomes = new Map<unknown, Outcome>()
  readonly #later = new Map<unknown, Promise<CallEnd>>()
  readonly #began = performance.now()

  constructor(body: unknown) {
    this.#body = body
  }
  answered(id: string | number, answer: object): void {
    this.#outcomes.set(id, this.#endWith(answer))
  }
  /** A call that goes on after its answer, as a task. It is recorded with its end. */
  goesOn(id: string | number, end: Promise<object>): void {
    this.#later.set(
      id,
      end.then((answer) => {
        const { code, ...rest } = this.#endWith(answer)
        return { outcome: code, ...rest }
      }),
    )
  }
  #endWith(answer: object): Outcome {
    const [code, message] = outcomeOf(answer as Wire)
    return { code, message, ms: performance.now() - this.#began }
  }
  /** The log entries, one for each message, given the HTTP status of the POST. Each is made when it is asked for. */
  *lines(status: number): Generator<Said> {
    for (const message of this.#messages())
      yield isWire(message) ? lineOf(message, this.#outcomes, missingOf(status)) : {}
  }
  /** The calls: of tools, of what else agents ask for, and any message that was refused. */
  *found(status: number): Generator<FoundCall> {
    for (const message of this.#messages()) {
      if (!isWire(message) || typeof message['method'] !== 'string' || message['id'] === undefined) continue
      const { method, id } = message
      const end = this.#outcomes.get(id) ?? { code: missingOf(status), message: null, ms: undefined }
      if (USES.has(method) || !PASSED.has(end.code))
        yield { ...callOf(message, method, end), later: this.#later.get(id) }
    }
  }
  /** The server rejects batches above the limit without reading them. */
  #messages(): readonly unknown[] {
    const messages: unknown[] = Array.isArray(this.#body) ? this.#body : [this.#body]
    return messages.length > LIMITS.mcpBatch || messages.length === 0 ? [undefined] : messages
  }
}

/** How a call ended that was not answered. */
const missingOf = (status: number): string =>
  status >= 400 && status !== CLIENT_GONE ? REFUSED : 'cancelled'

/** Methods that ask for content, and outcomes that are no failure. Others are recorded if they are refused. */
const USES = new Set(['tools/call', 'resources/read', 'prompts/get'])
const PASSED = new Set(['ok', 'input_required', 'cancelled'])

type Ended = Pick<Outcome, 'code' | 'message'> & { readonly ms: number | undefined }

function callOf({ params, id }: Wire, method: string, { code, message, ms }: Ended): FoundCall {
  const { name, arguments: args } = isWire(params) ? params : {}
  const isTool = method === 'tools/call' && typeof name === 'string'
  const base = isWire(args) ? args['base_id'] : undefined
  return {
    tool: isTool ? bounded(name) : null,
    route: isTool ? null : bounded(method),
    // A call with any other id was refused.
    id: typeof id === 'string' || typeof id === 'number' ? bounded(String(id)) : null,
    outcome: code,
    message,
    ms,
    arguments: isTool ? (args ?? {}) : undefined,
    base: typeof base === 'string' ? base : null,
  }
}

function lineOf(
  { method, params, id }: Wire,
  outcomes: ReadonlyMap<unknown, Outcome>,
  missing: string,
): Said {
  // A message without a method is a response to a server request.
  if (typeof method !== 'string') return {}
  const given = isWire(params) ? params : {}
  const meta = isWire(given['_meta']) ? given['_meta'] : {}
  return {
    rpc_method: bounded(method),
    ...subjectOf(method, given),
    ...(id !== undefined && { outcome: outcomes.get(id)?.code ?? missing }),
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

/** `ok` or a failure code: the REST error code for a failed call, else the JSON-RPC code. With its message. */
function outcomeOf({ error, result }: Wire): [code: string, message: string | null] {
  if (isWire(error)) {
    const { code, message, data } = error as JsonRpcError
    return [data?.error?.code ?? String(code), message ?? null]
  }
  if (!isWire(result)) return ['ok', null]
  if (result['isError'] === true) return failureIn(result)
  const { resultType } = result
  return [resultType === 'input_required' || resultType === 'task' ? resultType : 'ok', null]
}
type JsonRpcError = { code: number; message?: string; data?: { error?: { code?: string } } }

const isWire = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
