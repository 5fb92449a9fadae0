import type { FastifyInstance } from 'fastify'
import { parseJson } from '../json/index.ts'
import { unsupportedMedia } from './errors.ts'

const JSON_TYPES = ['application/json', 'application/merge-patch+json', 'application/json-patch+json']

/** Every JSON body goes through the one pre-pass; an empty one is no body. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    const accepts = request.routeOptions.config.accepts ?? ['application/json']
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    try {
      if (!accepts.includes(type)) throw unsupportedMedia(accepts)
      const use = request.routeOptions.config.onlyAsks ? 'compared' : 'stored'
      done(null, body.length === 0 ? undefined : parseJson(body as Buffer, '', use))
    } catch (thrown) {
      done(thrown as Error)
    }
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media types a route takes; JSON when left out. */
    accepts?: readonly string[]
    /** Nothing of its body is stored. */
    onlyAsks?: boolean
  }
}
