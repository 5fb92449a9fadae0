import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type DomainError, invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { parseJson, parseLargeJson } from '../json/index.ts'
import { unsupportedMedia } from './errors.ts'

const JSON_TYPES = ['application/json', 'application/merge-patch+json', 'application/json-patch+json']

/** Every JSON body goes through the one pre-pass; an empty one is no body. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    const { config } = request.routeOptions
    const fail = (thrown: unknown) => {
      if (config.answersCalls) request.refusedBody = body
      done(thrown as Error)
    }
    try {
      demandReadable(request)
      const use = config.onlyAsks ? 'compared' : 'stored'
      if (body.length > LIMITS.jsonAtOnceBytes)
        void parseLargeJson(body, use).then((value) => done(null, value), fail)
      else done(null, body.length === 0 ? undefined : parseJson(body, '', use))
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** @throws VALIDATION_ERROR when the bytes are not JSON in UTF-8, as they stand */
function demandReadable({ headers, routeOptions }: FastifyRequest): void {
  const accepts = routeOptions.config.accepts ?? ['application/json']
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  if (!accepts.includes(type.trim().toLowerCase())) throw unsupportedMedia(accepts)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && !/^\s*identity\s*$/i.test(encoding)) throw encoded(encoding)
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1]
    if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) throw notUtf8(charset)
  }
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

/** How large bodies may be, by what they are for. A larger one is refused before it is read. */
export type BodySizes = {
  /** What asks or configures. */
  small: number
  /** A record or a link, with room for the white space and the escapes that are not stored. */
  record: number
  /** Many of them. */
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
    /** The media types a route takes; JSON when left out. */
    accepts?: readonly string[]
    /** Nothing of its body is stored. */
    onlyAsks?: boolean
    /** Its bodies are calls, which are answered even when they cannot be read: `refusedBody` is set then. */
    answersCalls?: boolean
  }
  interface FastifyRequest {
    /** The body that the pre-pass refused. */
    refusedBody: Buffer | undefined
  }
}
