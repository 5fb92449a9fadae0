/** An SDK of OpenTelemetry that an operator could load: it writes each span as a line to the file of `SPAN_FILE`. */
import { appendFileSync } from 'node:fs'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const { SPAN_FILE = '' } = process.env

export type WrittenSpan = {
  name: string
  kind: number
  traceId: string
  spanId: string
  parent: string | undefined
  status: number
  attributes: Record<string, unknown>
}

const written = (span: ReadableSpan): WrittenSpan => ({
  name: span.name,
  kind: span.kind,
  attributes: span.attributes,
  status: span.status.code,
  parent: span.parentSpanContext?.spanId,
  traceId: span.spanContext().traceId,
  spanId: span.spanContext().spanId,
})

if (SPAN_FILE !== '') {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const exporter = {
    export: (spans: readonly ReadableSpan[], done: (result: { code: number }) => void) => {
      for (const span of spans) appendFileSync(SPAN_FILE, `${JSON.stringify(written(span))}\n`)
      done({ code: 0 })
    },
    shutdown: async () => {},
  }
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
}
