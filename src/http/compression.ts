import { constants } from 'node:zlib'
import negotiator from '@fastify/accept-negotiator'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { LIMITS } from '../foundation/limits.ts'

/**
 * Prefer gzip: at these sizes brotli is no faster, saves little, and needs megabytes of memory per response.
 */
const ENCODINGS = ['gzip' as const, 'br' as const]
/** Excludes event streams, whose events must be sent at once. */
const TYPES = /^(application\/json|text\/plain)\b/

/** Registers response compression for routes that are added later. */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    globalDecompression: false,
    encodings: ENCODINGS,
    threshold: LIMITS.compressedBytesMin,
    syncThreshold: LIMITS.compressedAtOnceBytes,
    customTypes: TYPES,
    zlibOptions: { level: 3 },
    brotliOptions: {
      params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 },
    },
  })
  // The compressed length is unknown without the body, so HEAD omits it (RFC 9110, section 9.3.2).
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD' || route.compress === false) return
    const known = route.onSend === undefined ? [] : [route.onSend].flat()
    route.onSend = [
      ...known,
      (request, reply, payload, done) => {
        const accepted = negotiator.negotiate(request.headers['accept-encoding'] ?? '', [...ENCODINGS])
        const isPlain = reply.getHeader('content-encoding') === undefined
        if (accepted && isPlain && Number(reply.getHeader('content-length')) >= LIMITS.compressedBytesMin)
          reply.removeHeader('content-length')
        done(null, payload)
      },
    ]
  })
}
