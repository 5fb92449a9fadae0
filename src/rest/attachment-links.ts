/** Signed links of attachments, outside /v1: the link itself is the right to use it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { withPaths } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type OpenLink, openContent, storeContent } from '../graphql/content.ts'
import { staticOperation } from '../graphql/execute.ts'
import { readContentHeaders } from '../http/content-headers.ts'
import { sendContent } from '../http/send-content.ts'
import { AttachmentFields } from './attachments.ts'
import { NO_QUERY, readQuery } from './route/query.ts'

const find = staticOperation(
  `query LinkedAttachment($base: String!, $recordType: String!, $recordId: String!, $id: String!) {
    attachmentById(base: $base, recordType: $recordType, recordId: $recordId, id: $id) { ...AttachmentFields }
  }`,
  [AttachmentFields],
)
const complete = staticOperation(
  `mutation CompleteAttachment($base: String!, $recordType: String!, $recordId: String!, $id: String!, $contentSha256: String!,
    $contentType: String) {
    completeAttachment(base: $base, recordType: $recordType, recordId: $recordId, id: $id, contentSha256: $contentSha256,
      contentType: $contentType) { ...AttachmentFields }
  }`,
  [AttachmentFields],
)

type Hook = (request: FastifyRequest) => Promise<void>
type Params = { Params: { link: string } }

/** Serves the links. A link takes the place of a token, so the limit by address applies. */
export function attachmentLinks(visit: Hook, openLink: OpenLink) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    app.get<Params>('/attachments/:link', { onRequest: visit, compress: false }, async (request, reply) => {
      const { context, attachment } = await openLink('download', request.params.link, request.id)
      readQuery(NO_QUERY, request.query as Record<string, unknown>)
      const { attachmentById: found } = await find(attachment, context)
      const { sha256, size, filename, content_type: contentType } = found
      if (sha256 === null || size === null) throw new Error('A download link has a content.')
      reply.header('cache-control', 'private, no-store')
      return sendContent(request, reply, { sha256, size, filename, contentType }, (range) =>
        openContent(context, { sha256, size }, range),
      )
    })

    app.put<Params>(
      '/attachments/:link',
      { onRequest: visit, config: { streams: '*' } },
      async (request, reply) => {
        try {
          const { context, attachment } = await openLink('upload', request.params.link, request.id)
          readQuery(NO_QUERY, request.query as Record<string, unknown>)
          const sha256 = readContentHeaders(request.headers)
          await find(attachment, context)
          const stored = await storeContent(context, request.raw, {
            maxBytes: LIMITS.attachmentBytes,
            ...(sha256 !== undefined && { sha256 }),
          })
          const contentType = request.headers['content-type'] ?? null
          const done = await complete({ ...attachment, contentSha256: stored.sha256, contentType }, context)
          return done.completeAttachment
        } catch (thrown) {
          // The rest of the body is not read.
          if (!request.raw.complete) reply.header('connection', 'close')
          throw withPaths(thrown, (path) => (path === '/content_sha256' ? '' : path))
        }
      },
    )
  }
}
