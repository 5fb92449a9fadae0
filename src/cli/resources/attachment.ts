/** Commands of attachments: files of a record. */
import { readFile } from 'node:fs/promises'
import type { Noun } from '../command/command.ts'
import { unreadable } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import type { Option } from '../command/options.ts'

const file: Option = {
  flags: '--file <path>',
  about: 'a file to attach, up to 7 MiB; send larger ones to the upload_url of an attachment without content',
  to: { body: 'content_base64' },
  read: async (path: string) => {
    try {
      return await readFile(path, 'base64')
    } catch (error) {
      throw unreadable(path, error)
    }
  },
  conflicts: 'content',
}

/** Takes the type of a content from the suffix of its filename, if no option gives it. */
async function guessType(fields: Record<string, unknown>): Promise<void> {
  const { filename, content, content_base64: base64 } = fields
  if ('content_type' in fields || (content === undefined && base64 === undefined)) return
  const bytes = content === undefined ? Buffer.from(String(base64), 'base64') : Buffer.from(String(content))
  const { guessContentType } = await import('../command/content-type.ts')
  fields['content_type'] = guessContentType([String(filename)], bytes)
}

export const attachment: Noun = {
  name: 'attachment',
  summary: 'Attachments: files of a record',
  columns: ['id', 'filename', 'content_type', 'size', 'status', 'created_at'],
  rows: [
    commandOf('attachments.list', 'list', { summary: 'List the attachments of a record' }),
    commandOf('attachments.get', 'get', { summary: 'Show an attachment, with a URL of its content' }),
    commandOf('attachments.create', 'put', {
      summary: 'Attach a file, and replace one of the same name; without a content, get a URL for the upload',
      argument: 'filename',
      says: {
        content_base64: file,
        content: 'the content as text',
        content_type: '<type> media type (default: by the suffix of a content)',
      },
      complete: guessType,
    }),
    commandOf('attachments.delete', 'delete'),
  ],
}
