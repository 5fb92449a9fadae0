import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type DomainError, invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { parseJson, parseLargeJson } from '../json/parse.ts'
import { unsupportedMedia } from './errors.ts'
import { BodyRoom, whenAdmitted } from './large-bodies.ts'

const JSON_TYPES = ['application/json', 'application/merge-patch+json', 'application/json-patch+json']

/**
 * Parses JSON bodies with the pre-pass of `json/`. An empty body counts as no body. Only as many bulk bodies are parsed
 * as the database works on, and one more of each token: the others wait as bytes, which the garbage collector need not
 * copy.
 */
export function acceptJson(app: FastifyInstance, connections: number): void {
  const turns = new BodyRoom(connections + 2)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    const { config } = request.routeOptions
    const fail = (thrown: unknown) => {
      if (config.answersCalls) request.refusedBody = body
      done(thrown as Error)
    }
    const use = config.onlyAsks ? 'compared' : 'stored'
    try {
      checkBodyHeaders(request)
    } catch (thrown) {
      return fail(thrown)
    }
    if (!config.isBulk || body.length < LIMITS.bulkTurnBytes) parse(body, use, done, fail)
    else whenAdmitted(turns, request, 1, () => parse(body, use, done, fail), fail)
  })
}

function parse(
  body: Buffer,
  use: 'compared' | 'stored',
  done: (error: null, value: unknown) => void,
  fail: (thrown: unknown) => void,
): void {
  try {
    if (body.length > LIMITS.jsonAtOnceBytes)
      void parseLargeJson(body, use).then((value) => done(null, value), fail)
    else done(null, body.length === 0 ? undefined : parseJson(body, '', use))
  } catch (thrown) {
    fail(thrown)
  }
}

/** Passes forms on to routes that stream them. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser('multipart/form-data', (request, payload, done) => {
    const { accepts } = request.routeOptions.config
    if (accepts?.includes('multipart/form-data')) done(null, payload)
    else done(unsupportedMedia(accepts ?? ['application/json']))
  })
}

/**
 * Checks media type and charset.
 * @throws VALIDATION_ERROR unless the body is uncompressed JSON in UTF-8
 */
function checkBodyHeaders({ headers, routeOptions }: FastifyRequest): void {
  const accepts = routeOptions.config.accepts ?? ['application/json']
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  if (!accepts.includes(type.trim().toLowerCase())) throw unsupportedMedia(accepts)
  refuseEncoding(headers)
  for (const parameter of parameters) {
    const charset = /^charset\s*=\s*"?([^"\s]*)"?$/i.exec(parameter.trim())?.[1]
    if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) throw notUtf8(charset)
  }
}

/** @throws VALIDATION_ERROR for a compressed body */
export function refuseEncoding({ 'content-encoding': encoding }: FastifyRequest['headers']): void {
  if (encoding !== undefined && !/^\s*identity\s*$/i.test(encoding)) throw encoded(encoding)
}

const encoded = (encoding: string): DomainError =>
  invalid({
    path: 'header/Content-Encoding',
    code: 'unsupported_encoding',
    message: 'Compressed bodies are not supported. Send the body without Content-Encoding.',
    received: encoding.slice(0, 64),
    allowed: ['identity'],
  })

const notUtf8 = (charset: string): DomainError =>
  invalid({
    path: 'header/Content-Type',
    code: 'unsupported_charset',
    message: 'JSON must be encoded in UTF-8. Send UTF-8 and leave the charset out.',
    received: charset.slice(0, 64),
    allowed: ['utf-8'],
  })

/** Body limits by kind of route. Larger bodies are rejected before they are read. */
export type BodySizes = {
  /** Queries and configuration. */
  small: number
  /** One record or link, with room for white space and escapes that are not stored. */
  record: number
  /** Batches and imports. */
  bulk: number
}

export const bodySizes = ({
  bodyBytes,
  recordBytes,
}: {
  bodyBytes: number
  recordBytes: number
}): BodySizes => ({
  small: Math.min(bodyBytes, LIMITS.smallBodyBytes),
  record: Math.min(bodyBytes, 4 * recordBytes + LIMITS.smallBodyBytes),
  bulk: bodyBytes,
})

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepted media types; JSON by default. */
    accepts?: readonly string[]
    /** Many operations in a body, which is parsed in its turn. */
    isBulk?: boolean
    /** The body is a query, so nothing in it is stored. */
    onlyAsks?: boolean
    /** JSON-RPC routes: a malformed body gets a JSON-RPC response. `refusedBody` holds it. */
    answersCalls?: boolean
  }
  interface FastifyRequest {
    /** The body that the pre-pass rejected. */
    refusedBody: Buffer | undefined
  }
}
