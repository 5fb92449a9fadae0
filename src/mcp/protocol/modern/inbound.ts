import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundModernRoute,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { NAMED_BY } from '../../../contract/named-methods.ts'
import { own } from '../../../foundation/own.ts'
import { isPlainCall, PlainCalls } from '../plain-calls.ts'

/** A transport-level refusal of a message, as a JSON-RPC error. */
export type Fault = { status: number; code: number; message: string; data?: unknown }

export const MODERN_VERSIONS = ['2026-07-28']
const HEADER_MISMATCH = -32020

/** Protocol version that the message itself declares in `_meta`, if any. */
export const claimOf = (body: object): unknown => {
  const { params } = body as { params?: { _meta?: Record<string, unknown> | null } | null }
  return params?._meta?.[PROTOCOL_VERSION_META_KEY]
}

const CLASSIFIED = new PlainCalls<InboundModernRoute['classification']>()

/** Classifies a request by era with the SDK, which compares message, envelope and headers. */
export function classify({ headers, body }: FastifyRequest): InboundClassificationOutcome {
  // The verdict on a call whose headers repeat what its body says depends on its `_meta` alone.
  const repeats =
    isPlainCall(body) &&
    headers['mcp-method'] === body.method &&
    headers['mcp-name'] === body.params.name &&
    headers['mcp-protocol-version'] === claimOf(body)
  const classification = repeats ? CLASSIFIED.verdictOn(body) : undefined
  if (classification)
    return { kind: 'modern', messageKind: 'request', message: body as JSONRPCRequest, classification }
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    ...header('protocolVersionHeader', headers['mcp-protocol-version']),
    ...header('mcpMethodHeader', headers['mcp-method']),
    ...header('mcpNameHeader', headers['mcp-name']),
    body,
  })
  if (repeats && outcome.kind === 'modern' && outcome.messageKind === 'request')
    CLASSIFIED.keep(body, outcome.classification)
  return outcome
}

const header = <Name extends string>(name: Name, value: unknown) =>
  (typeof value === 'string' ? { [name]: value } : {}) as { [key in Name]?: string }

/** Checks that the SDK leaves out: the version is supported, and all required headers are present. */
export function faultOf({ headers }: FastifyRequest, route: InboundModernRoute): Fault | undefined {
  const { revision } = route.classification
  if (revision === undefined || !MODERN_VERSIONS.includes(revision)) {
    const about = { supported: MODERN_VERSIONS, requested: revision ?? 'unknown' }
    const { code, message, data } = new UnsupportedProtocolVersionError(about)
    return { status: 400, code, message, data }
  }
  if (route.messageKind === 'notification') return undefined
  const { method, params } = route.message
  if (headers['mcp-protocol-version'] === undefined)
    return disagree('(missing)', `the body names version ${revision}, MCP-Protocol-Version names none`)
  if (headers['mcp-method'] === undefined)
    return disagree('(missing)', `the body names method ${method}, Mcp-Method names none`)
  const field = own(NAMED_BY, method)
  if (field === undefined) return undefined
  return faultOfName(headers['mcp-name'], field, (params as Record<string, unknown> | undefined)?.[field])
}

function faultOfName(header: unknown, field: string, named: unknown): Fault | undefined {
  if (typeof named !== 'string') return undefined
  if (typeof header !== 'string')
    return disagree('(missing)', `the body has params.${field}="${named}", Mcp-Name names nothing`)
  const decoded = decodeHeader(header)
  if (decoded === undefined) return disagree(header, 'Mcp-Name is not the Base64 of UTF-8 that it says it is')
  if (decoded === named) return undefined
  return disagree(header, `the body has params.${field}="${named}", Mcp-Name names "${decoded}"`)
}

const disagree = (header: string, body: string): Fault => ({
  status: 400,
  code: HEADER_MISMATCH,
  message: `Bad Request: the request headers and body disagree: ${body}`,
  data: { mismatch: { header, body } },
})

const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes a header value; `=?base64?…?=` carries text that headers cannot. Undefined if malformed. */
function decodeHeader(value: string): string | undefined {
  if (!(value.startsWith('=?base64?') && value.endsWith('?='))) return value
  const encoded = BASE64.exec(value)?.[1]
  if (encoded === undefined) return undefined
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}

/** HTTP status of a JSON-RPC error. Tool failures are 200 with the error in the body. */
export function statusOf(code: number): number {
  if (code === ProtocolErrorCode.MethodNotFound) return 404
  return code === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200
}
