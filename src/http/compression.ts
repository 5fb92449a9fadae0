import { constants } from 'node:zlib'
import negotiator from '@fastify/accept-negotiator'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

/** Gzip first: at these sizes brotli takes as long for as little, and megabytes of memory for each answer. */
const ENCODINGS = ['gzip' as const, 'br' as const]
/** Shorter answers fit a packet or two as they are. */
const LEAST_BYTES = 1024
/** Up to this size an answer is compressed at once; longer ones in the thread pool. */
const AT_ONCE_BYTES = 8 * 1024
/** Event streams are not among them: each event leaves at once. */
const TYPES = /^(application\/json|text\/plain)\b/

/** Compresses answers for clients that accept it. Routes that are added later have it. */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    globalDecompression: false,
    encodings: ENCODINGS,
    threshold: LEAST_BYTES,
    syncThreshold: AT_ONCE_BYTES,
    customTypes: TYPES,
    zlibOptions: { level: 3 },
    brotliOptions: {
      params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 },
    },
  })
  // To know the length of a compressed answer it would have to be made: HEAD leaves it out (RFC 9110, section 9.3.2).
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') return
    const known = route.onSend === undefined ? [] : [route.onSend].flat()
    route.onSend = [
      ...known,
      (request, reply, payload, done) => {
        const accepted = negotiator.negotiate(request.headers['accept-encoding'] ?? '', [...ENCODINGS])
        const isPlain = reply.getHeader('content-encoding') === undefined
        if (accepted && isPlain && Number(reply.getHeader('content-length')) >= LEAST_BYTES)
          reply.removeHeader('content-length')
        done(null, payload)
      },
    ]
  })
}
