/** GraphQL operations of attachments of records. */
import * as attachments from '../engine/records/attachments/index.ts'
import { builder } from './builder.ts'
import { Deleted } from './common.ts'
import { mutation } from './mutation.ts'
import { nodeId } from './node-id.ts'
import { pageArgs, pageType } from './page.ts'

const AttachmentRef = builder.objectRef<attachments.LinkedAttachment>('Attachment').implement({
  description: 'A named content of a record.',
  fields: (t) => ({
    id: t.exposeString('id'),
    nodeId: nodeId(t, ({ id }) => [id]),
    filename: t.exposeString('filename'),
    contentType: t.exposeString('contentType'),
    size: t.exposeFloat('size', { nullable: true, description: 'Bytes; null while the content is missing.' }),
    sha256: t.exposeString('sha256', { nullable: true }),
    status: t.exposeString('status', {
      description: '"pending" while the content is missing, then "ready".',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'Where the content can be downloaded without a token; only of a single attachment.',
    }),
    text: t.string({
      nullable: true,
      description: 'The content, if it is a text of at most `maxBytes`; only of a single attachment.',
      args: { maxBytes: t.arg.int({ required: true }) },
      resolve: (attachment, { maxBytes }, { scope }) =>
        attachment.url ? attachments.attachedText(scope, attachment, maxBytes) : null,
    }),
    uploadUrl: t.exposeString('uploadUrl', {
      nullable: true,
      description: 'Where the content can be uploaded with a PUT without a token; only of a new attachment.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the URL stops working.',
    }),
  }),
})

const recordArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    recordType: t.string({ required: true }),
    recordId: t.string({ required: true }),
  }))
type Record = { base: string; recordType: string; recordId: string }
const keyOf = ({ base, recordType, recordId }: Record) => [base, recordType, recordId] as const

builder.queryFields((t) => ({
  attachments: t.field({
    type: pageType('AttachmentPage', AttachmentRef),
    description: 'The attachments of a record, newest first.',
    args: { ...recordArgs(), ...pageArgs() },
    resolve: (_root, { base, recordType, recordId, ...args }, { scope }) =>
      attachments.listAttachments(scope, [base, recordType, recordId], args),
  }),
  attachment: t.field({
    type: AttachmentRef,
    description: 'The attachment of a record with a filename, and a URL of its content.',
    args: { ...recordArgs(), filename: t.arg.string({ required: true }) },
    resolve: (_root, args, { scope }) => attachments.getAttachment(scope, keyOf(args), args.filename),
  }),
  attachmentById: t.field({
    type: AttachmentRef,
    description: 'The attachment of a record with an id.',
    args: { ...recordArgs(), id: t.arg.string({ required: true }) },
    resolve: (_root, args, { scope }) => attachments.getAttachmentById(scope, keyOf(args), args.id),
  }),
}))

mutation('createAttachment', {
  description:
    'Attaches a content to a record, and replaces one of the same filename. Without a content it returns a URL for the upload.',
  type: AttachmentRef,
  args: builder.args((t) => ({
    ...recordArgs(),
    filename: t.string({ required: true }),
    contentType: t.string({ description: 'A media type. Defaults to "application/octet-stream".' }),
    content: t.string({ description: 'The content as text.' }),
    contentBase64: t.string({ description: 'The content in base64.' }),
    contentSha256: t.string({ description: 'The content that the surface has stored for this request.' }),
  })),
  resolve: (scope, { base, recordType, recordId, ...input }) =>
    attachments.createAttachment(scope, [base, recordType, recordId], input),
})

mutation('completeAttachment', {
  description: 'Gives a pending attachment the content that the surface has stored for this request.',
  type: AttachmentRef,
  args: builder.args((t) => ({
    ...recordArgs(),
    id: t.string({ required: true }),
    contentSha256: t.string({ required: true }),
    contentType: t.string({ description: 'The media type that arrived.' }),
  })),
  resolve: (scope, { id, contentSha256, contentType, ...record }) =>
    attachments.completeAttachment(scope, keyOf(record), id, { contentSha256, contentType }),
})

mutation('deleteAttachment', {
  description: 'Deletes an attachment of a record.',
  type: Deleted,
  args: builder.args((t) => ({ ...recordArgs(), id: t.string({ required: true }) })),
  resolve: (scope, args) => attachments.deleteAttachment(scope, keyOf(args), args.id),
})
