/**
 * Spans of OpenTelemetry, where the operator has loaded an SDK before the program (`NODE_OPTIONS=--import`). Without one there
 * are none, and nothing is done for them. No span holds a value of a caller.
 */
import { context, ProxyTracerProvider, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { packageVersion } from './version.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const
type Attributes = Record<string, string | number>

export type { Span }

function findTracer() {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer('plinth', packageVersion())
    : provider.getTracer('plinth', packageVersion())
}
const tracer = findTracer()

/** Whether an SDK is loaded. */
export const isTraced = tracer !== undefined

/**
 * Begins a span of the server, or of a request to another one.
 * @param traceparent the parent that a caller has sent, which was checked; otherwise the span around it
 */
export function startSpan(
  name: string,
  kind: keyof typeof KINDS,
  attributes: Attributes,
  traceparent?: string,
): Span | undefined {
  const parent = traceparent === undefined ? context.active() : remote(traceparent)
  return tracer?.startSpan(name, { kind: KINDS[kind], attributes }, parent)
}

const remote = (traceparent: string) => {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(context.active(), { traceId, spanId, traceFlags, isRemote: true })
}

export function endSpan(span: Span | undefined, attributes: Attributes, hasFailed: boolean): void {
  if (span === undefined) return
  span.setAttributes(attributes)
  if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** Runs work whose spans are within this one. */
export const within = <T>(span: Span | undefined, work: () => T): T =>
  span === undefined ? work() : context.with(trace.setSpan(context.active(), span), work)

/** Runs a statement of the database in a span, which has its name: never its text, and no values. */
export async function tracedStatement<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  const span = startSpan(name ?? 'statement', 'client', { 'db.system.name': 'postgresql' })
  let hasFailed = true
  try {
    const result = await work()
    hasFailed = false
    return result
  } finally {
    endSpan(span, {}, hasFailed)
  }
}

/** The header by which the receiver of a request continues the trace. */
export function traceHeader(span: Span | undefined): Record<string, string> {
  if (span === undefined) return {}
  const { traceId, spanId, traceFlags } = span.spanContext()
  return { traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` }
}
