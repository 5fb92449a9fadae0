/** REST routes of attachments of records. */
import { z } from 'zod'
import { UNKNOWN_CONTENT } from '../contract/attachment-rules.ts'
import { trim } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { storeContent } from '../graphql/content.ts'
import type { Context } from '../graphql/context.ts'
import { graphql } from '../graphql/document.ts'
import { staticOperation } from '../graphql/execute.ts'
import { readFormFile } from '../http/form.ts'
import { one } from './records/fragments.ts'
import { listOf, without } from './route/page.ts'
import { pageOf, pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Deleted, onType, time } from './route/shapes.ts'

const FORM = 'multipart/form-data'

const Attachment = z
  .object({
    id: z.string(),
    filename: z.string(),
    content_type: z.string(),
    size: z.int().nullable().meta({ description: 'Bytes; null while the content is missing.' }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'In lowercase hex; null while the content is missing.' }),
    status: z.enum(['pending', 'ready']).meta({ description: '`pending` while the content is missing.' }),
    created_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Attachment' })
const expiresAt = time.nullable().optional()
const NewAttachment = Attachment.extend({
  upload_url: z.string().optional().meta({
    description: 'Without a content in the request: where to PUT it, without a token, until `expires_at`.',
  }),
  expires_at: expiresAt,
}).meta({ id: 'NewAttachment' })
const FoundAttachment = Attachment.omit({ dry_run: true })
  .extend({
    url: z.string().nullable().meta({
      description:
        'Where the content can be read, without a token, until `expires_at`; null while it is missing.',
    }),
    expires_at: expiresAt,
  })
  .meta({ id: 'FoundAttachment' })

export const AttachmentFields = graphql(`fragment AttachmentFields on Attachment {
  id filename content_type: contentType size sha256 status created_at: createdAt
}`)

const JsonBody = z.strictObject({
  filename: z.string().meta({ description: `1 to ${LIMITS.filenameChars} characters, no folders.` }),
  content_type: z
    .string()
    .optional()
    .meta({ description: `A media type. Defaults to \`${UNKNOWN_CONTENT}\`.` }),
  content: z.string().optional().meta({ description: 'The content as text.' }),
  content_base64: z.string().optional().meta({ description: 'The content in base64.' }),
})
/** The body that replaces a form once its file is stored. */
const FormBody = z.object({ filename: z.string(), content_type: z.string(), content_sha256: z.string() })
const FormInput = z.object({
  file: z.string().meta({ format: 'binary', description: 'A file with a filename.' }),
})

const findRecord =
  staticOperation(`query RecordOfAttachment($base: String!, $recordType: String!, $recordId: String!) {
    attachments(base: $base, recordType: $recordType, recordId: $recordId, limit: 1) { limit }
  }`)

/** Stores the file of a form, if there is a record to attach it to. */
async function receiveForm(
  context: Context,
  record: { base: string; recordType: string; recordId: string },
  request: Parameters<typeof readFormFile>[0],
): Promise<z.output<typeof FormBody>> {
  await findRecord(record, context)
  const { filename, contentType, stored } = await readFormFile(request, (content) =>
    storeContent(context, content, { maxBytes: LIMITS.attachmentBytes }),
  )
  return { filename, content_type: contentType, content_sha256: stored.sha256 }
}

const recordOf = ({ base_id, record_type, id }: { base_id: string; record_type: string; id: string }) => ({
  base: base_id,
  recordType: record_type,
  recordId: id,
})

export const attachments = tagged('Attachments', [
  route('POST /:base_id/records/:record_type/:id/attachments', {
    summary: 'Attach a file to a record, and replace one of the same name',
    size: 'bulk',
    need: onType('write'),
    params: one,
    accepts: ['application/json', FORM],
    streams: [FORM],
    receive: (request, params) => receiveForm(request.caller, recordOf(params), request),
    body: z.union([JsonBody, FormBody]),
    bodyOf: (mediaType) => (mediaType === FORM ? FormBody : JsonBody),
    described: { [FORM]: FormInput },
    operation: graphql(
      `mutation CreateAttachment($base: String!, $recordType: String!, $recordId: String!, $filename: String!, $contentType: String,
        $content: String, $contentBase64: String, $contentSha256: String) {
        createAttachment(base: $base, recordType: $recordType, recordId: $recordId, filename: $filename, contentType: $contentType,
          content: $content, contentBase64: $contentBase64, contentSha256: $contentSha256) {
          ...AttachmentFields upload_url: uploadUrl expires_at: expiresAt dry_run: dryRun
        }
      }`,
      [AttachmentFields],
    ),
    variables: ({ params, body }) => ({
      ...recordOf(params),
      filename: body.filename,
      contentType: body.content_type,
      ...('content_sha256' in body
        ? { contentSha256: body.content_sha256 }
        : { content: body.content, contentBase64: body.content_base64 }),
    }),
    reply: ({ createAttachment: made }, { params }) => ({
      status: 201,
      body: made.upload_url === null ? trim(without(made, 'upload_url', 'expires_at')) : trim(made),
      location: `/v1/${params.base_id}/records/${params.record_type}/${params.id}/attachments/${encodeURIComponent(made.filename)}`,
    }),
    answers: NewAttachment,
    statuses: [201],
  }),
  route('GET /:base_id/records/:record_type/:id/attachments', {
    summary: 'List the attachments of a record, newest first',
    need: onType('read'),
    params: one,
    query: pageQuery,
    operation: graphql(
      `query ListAttachments($base: String!, $recordType: String!, $recordId: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: attachments(base: $base, recordType: $recordType, recordId: $recordId, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...AttachmentFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [AttachmentFields],
    ),
    variables: ({ params, query }) => ({ ...recordOf(params), ...pageOf(query) }),
    answers: listOf(Attachment),
  }),
  route('GET /:base_id/records/:record_type/:id/attachments/:filename', {
    summary: 'Get an attachment by its filename, with a URL of its content',
    need: onType('read'),
    params: one.extend({ filename: z.string().meta({ description: 'Its filename.' }) }),
    operation: graphql(
      `query GetAttachment($base: String!, $recordType: String!, $recordId: String!, $filename: String!) {
        attachment(base: $base, recordType: $recordType, recordId: $recordId, filename: $filename) { ...AttachmentFields url expires_at: expiresAt }
      }`,
      [AttachmentFields],
    ),
    variables: ({ params }) => ({ ...recordOf(params), filename: params.filename }),
    answers: FoundAttachment,
  }),
  route('DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id', {
    summary: 'Delete an attachment',
    need: onType('write'),
    params: one.extend({ attachment_id: z.string().min(1).max(64).meta({ description: 'Its id.' }) }),
    operation: graphql(
      `mutation DeleteAttachment($base: String!, $recordType: String!, $recordId: String!, $id: String!) {
        deleteAttachment(base: $base, recordType: $recordType, recordId: $recordId, id: $id) { id deleted dry_run: dryRun }
      }`,
    ),
    variables: ({ params }) => ({ ...recordOf(params), id: params.attachment_id }),
    answers: Deleted,
  }),
])
