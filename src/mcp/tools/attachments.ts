/** Tools that endpoints bind to one record type: they attach contents to records, and read them. */
import { z } from 'zod'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BYTES_OF_TOKEN } from '../budget/fit.ts'
import { BY_CURSOR, ReadResult } from '../budget/read-result.ts'
import { pageArguments } from '../tool/page-arguments.ts'
import { reading, tool, writing } from '../tool/tool.ts'
import { attachNamed } from './files/attach.ts'
import { one } from './records/operations.ts'

const list =
  staticOperation(`query ToolAttachments($base: String!, $recordType: String!, $recordId: String!, $limit: Int, $cursor: String) {
    page: attachments(base: $base, recordType: $recordType, recordId: $recordId, limit: $limit, cursor: $cursor) {
      data { id filename content_type: contentType size sha256 status created_at: createdAt }
      hasMore limit offset total nextCursor cursors
    }
  }`)
const get =
  staticOperation(`query ToolAttachment($base: String!, $recordType: String!, $recordId: String!, $filename: String!, $maxBytes: Int!) {
    found: attachment(base: $base, recordType: $recordType, recordId: $recordId, filename: $filename) {
      id filename content_type: contentType size sha256 status created_at: createdAt text(maxBytes: $maxBytes)
      url expires_at: expiresAt
    }
  }`)

export const attachmentTools = [
  tool('attach', {
    title: 'Attach',
    description: 'Attach a file to a record.',
    permission: 'write',
    hints: { destructive: true, idempotent: true },
    input: z.strictObject({
      ...one,
      filename: z.string(),
      text: z.string().optional(),
      base64: z.string().optional(),
      content_type: z.string().optional(),
      ...writing,
    }),
    run: attachNamed,
  }),
  tool('attachments', {
    title: 'Attachments',
    description: 'Read the files of a record.',
    permission: 'read',
    showsRecords: true,
    input: z.strictObject({
      ...one,
      filename: z.string().optional(),
      limit: pageArguments.limit,
      cursor: pageArguments.cursor,
      ...reading,
    }),
    run: async ({ base_id, record_type, id, filename, limit, cursor, max_tokens }, context) => {
      const record = { base: base_id, recordType: record_type, recordId: id }
      if (filename !== undefined) {
        const maxBytes = (max_tokens ?? LIMITS.answerTokens) * BYTES_OF_TOKEN
        const { text, ...found } = (await get({ ...record, filename, maxBytes }, context)).found
        return new ReadResult({ ...trim(found), ...(text !== null && { text }) })
      }
      const { page } = await list({ ...record, ...omitUndefined({ limit, cursor }) }, context)
      return new ReadResult(pageBody(page), { ...BY_CURSOR, cursors: page.cursors })
    },
  }),
]
