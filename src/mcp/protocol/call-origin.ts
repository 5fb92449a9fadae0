import type { IncomingHttpHeaders } from 'node:http'
import { LIMITS } from '../../foundation/limits.ts'
import { readTrace } from '../../http/request-log.ts'

/** Where a tool call comes from: its JSON-RPC id, the client, and the trace it is part of. */
export type CallOrigin = {
  readonly id: string
  readonly client: string | null
  readonly traceId: string | null
  /** The parent that the message names, in place of the request. */
  readonly traceparent: string | undefined
}

type Meta = Readonly<Record<string, unknown>> | undefined

/** The trace of the message counts before that of the HTTP request, which may carry several messages. */
export function originOf(
  id: string | number,
  client: string | null,
  meta: Meta,
  headers: IncomingHttpHeaders,
): CallOrigin {
  const ofMessage = readTrace(meta?.['traceparent'], undefined)
  const trace = ofMessage ?? readTrace(headers['traceparent'], undefined)
  const traceparent = ofMessage && String(meta?.['traceparent'])
  return { id: bounded(String(id)), client, traceId: trace?.trace_id ?? null, traceparent }
}

/** `name/version` of a `clientInfo`; null for anything else. */
export function clientName(info: unknown): string | null {
  if (typeof info !== 'object' || info === null) return null
  const { name, version } = info as { name?: unknown; version?: unknown }
  if (typeof name !== 'string' || name === '') return null
  return bounded(typeof version === 'string' && version !== '' ? `${name}/${version}` : name)
}

/** Truncates client-supplied names and escapes control characters. */
export function bounded(name: string): string {
  const short = name.slice(0, LIMITS.loggedNameChars)
  if (/^[ -~]*$/.test(short)) return short
  return short.replace(/(?! )[\p{C}\p{Z}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}
