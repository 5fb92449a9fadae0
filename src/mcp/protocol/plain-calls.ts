/**
 * Remembers what the shapes of the SDKs said of calls that differ in nothing that the shapes look at. Of a plain `tools/call`
 * that is `_meta`: a client sends the same one each time, and the shapes take a tenth of a small call to read it.
 */
import { LRUCache } from 'lru-cache'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'

/** A `tools/call` without other members. The shapes ask of an id that it is a text or an integer, of arguments that they are an object. */
type PlainCall = {
  readonly jsonrpc: '2.0'
  readonly id: string | number
  readonly method: 'tools/call'
  readonly params: {
    readonly name: string
    readonly arguments?: Record<string, unknown>
    readonly _meta?: unknown
  }
}
const MEMBERS = ['jsonrpc', 'id', 'method', 'params']
const PARAMS = ['name', 'arguments', '_meta']

export class PlainCalls<Verdict extends object | true> {
  readonly #known = new LRUCache<string, Verdict>({ max: LIMITS.mcpEnvelopes })

  /** What was said of a call with the same `_meta`. */
  verdictOn(message: unknown): Verdict | undefined {
    const text = envelopeOf(message)
    return text === undefined ? undefined : this.#known.get(text)
  }
  /** Keeps what a shape said of a call. */
  keep(message: unknown, verdict: Verdict): void {
    const text = envelopeOf(message)
    if (text !== undefined) this.#known.set(text, verdict)
  }
}

/** Whether a message is a plain call, whatever its `_meta` says. */
export function isPlainCall(message: unknown): message is PlainCall {
  if (!isObject(message) || !hasOnly(message, MEMBERS)) return false
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id)) return false
  if (!isObject(params) || !hasOnly(params, PARAMS) || typeof params['name'] !== 'string') return false
  return params['arguments'] === undefined || isObject(params['arguments'])
}

/** The `_meta` of a plain call as text, but for the progress token, of which each call has another one. */
function envelopeOf(message: unknown): string | undefined {
  if (!isPlainCall(message)) return undefined
  const { _meta: meta } = message.params
  const isSame = !isObject(meta) || !isId(meta['progressToken'])
  const text = JSON.stringify(isSame ? meta : { ...meta, progressToken: 0 }) ?? ''
  return text.length <= LIMITS.mcpEnvelopeChars ? text : undefined
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value)

function hasOnly(value: object, names: readonly string[]): boolean {
  for (const name in value) if (!names.includes(name)) return false
  return true
}
