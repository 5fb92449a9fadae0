/** W3C Trace Context of a request, from the headers traceparent and tracestate. */
export type Trace = { trace_id: string; parent_span_id: string; trace_state?: string }

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/
const KEY = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/
/** Printable ASCII without comma and equals sign, not ending in a space. */
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const STATE_CHARS = 512
const STATE_MEMBERS = 32

/**
 * Parses the trace context. Malformed headers are ignored, as the specification requires. Unknown versions
 * are parsed as far as version 00 goes.
 */
export function readTrace(parent: unknown, state: unknown): Trace | undefined {
  if (typeof parent !== 'string') return undefined
  const [, version, traceId = '', spanId = '', more] = PARENT.exec(parent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return {
    trace_id: traceId,
    parent_span_id: spanId,
    ...(isState(state) && { trace_state: state }),
  }
}

function isState(state: unknown): state is string {
  if (typeof state !== 'string' || state.length > STATE_CHARS) return false
  const members = state.split(',').map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
  const given = members.filter((member) => member !== '')
  const keys = given.map((member) => member.slice(0, Math.max(0, member.indexOf('='))))
  return (
    given.length > 0 &&
    members.length <= STATE_MEMBERS &&
    new Set(keys).size === keys.length &&
    given.every((member, i) => KEY.test(keys[i] ?? '') && VALUE.test(member.slice(member.indexOf('=') + 1)))
  )
}
