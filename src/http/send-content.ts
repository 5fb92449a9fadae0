/** Sends the content of a file: ranges, conditions, and headers that keep browsers from running it. */
import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mediaTypeOf } from '../contract/attachment-rules.ts'
import { invalid } from '../foundation/errors.ts'
import { matches } from './content-headers.ts'

export type Content = {
  sha256: string
  size: number
  contentType: string
  filename: string
  /** A Content-Disposition that the request asks for. */
  disposition?: string | undefined
}
type Range = { start: number; end: number }

/** Types that a browser may show: they run nothing. All others are downloaded. */
const SHOWN =
  /^(image\/(png|jpeg|gif|webp|avif|bmp)|application\/pdf|text\/plain|audio\/[\w.+-]+|video\/[\w.+-]+)$/

/**
 * @param open called at most once, and never for HEAD or a copy that is current
 * @throws VALIDATION_ERROR for a range that cannot be satisfied
 */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  open: (range?: Range) => Promise<Readable>,
): Promise<FastifyReply> {
  const { sha256, size, contentType } = content
  const etag = `"${sha256}"`
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'content-disposition': dispositionOf(content),
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const range = rangeOf(request, reply, etag, size)
  reply.type(contentType).header('content-length', range ? range.end - range.start + 1 : size)
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`)
  // Fastify keeps the length for an empty stream. An empty text would have a length of its own.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  return reply.send(await open(range))
}

/** What a browser must not show is an attachment, whatever is asked for. */
function dispositionOf({ contentType, filename, disposition }: Content): string {
  const isShown = SHOWN.test(mediaTypeOf(contentType))
  if (disposition === undefined)
    return contentDisposition(filename, { type: isShown ? 'inline' : 'attachment' })
  return isShown ? disposition : disposition.replace(/^[^;]*/, 'attachment')
}

/** Each space has one place, so that a long header is read in one pass. */
const RANGE = /^bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i

/**
 * The single range that the request asks for. Several ranges, and a range of another content, mean all of it, as
 * RFC 9110 allows.
 */
function rangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  size: number,
): Range | undefined {
  const { range: asked, 'if-range': ifRange } = request.headers
  const [found, from = '', to = ''] = RANGE.exec(asked ?? '') ?? []
  if (found === undefined || (from === '' && to === '')) return undefined
  if (ifRange !== undefined && ifRange !== etag) return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < start) return undefined
  if (start <= end) return { start, end }
  reply.header('content-range', `bytes */${size}`)
  throw invalid({
    path: 'header/Range',
    code: 'range_not_satisfiable',
    message: `The content has ${size} bytes. Send a range within them.`,
    expected: size,
    received: asked?.slice(0, 64),
  })
}
