import { z } from 'zod'
import { encodeFilePath, readEncodedPath } from '../../contract/file-path.ts'
import { graphql } from '../../graphql/document.ts'
import { baseId, configurationId, time } from '../route/shapes.ts'

/** A path as the URL has it, decoded once and in Unicode NFC. */
const path = z
  .string()
  .transform((encoded, context) => {
    const found = readEncodedPath(encoded)
    if ('path' in found) return found.path
    context.addIssue({ code: 'custom', params: { code: 'invalid_path' }, message: found.fault })
    return z.NEVER
  })
  .meta({
    description: 'The path of a file: 1 to 1,024 bytes, separated by "/", percent-encoded once.',
    schema: { type: 'string' },
  })

export const typeParams = z.strictObject({ base_id: baseId(), file_type: configurationId('A file type') })
export const fileParams = typeParams.extend({ path })

type Params = { base_id: string; file_type: string; path: string }
export const targetOf = ({ base_id: base, file_type: fileType, path }: Params) => ({ base, fileType, path })

/** The URL of a file. */
export const locationOf = ({ base_id: base, file_type: type, path }: Params): string =>
  `/v1/${base}/files/${type}/${encodeFilePath(path)}`

/** The ETag of a content. */
export const contentTag = ({ content_sha256: sha256 }: { content_sha256: string }): string => `"${sha256}"`

/** A file in responses. */
export const File = z
  .object({
    path: z.string(),
    file_type: z.string(),
    version: z.int().meta({ description: 'The number of its content version.' }),
    content_sha256: z.string().meta({ description: 'SHA-256 of the content, in lowercase hex. Its ETag.' }),
    size: z.int(),
    content_type: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    label: z.string().nullable(),
    created_at: time,
    updated_at: time,
    operation: z.enum(['created', 'updated', 'unchanged']).optional(),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'File' })

export const FileEntry = File.omit({ operation: true, dry_run: true })
  .partial()
  .extend({
    kind: z.enum(['file', 'folder']),
    path: z.string().meta({ description: 'The path of a folder ends in "/".' }),
  })
  .meta({ id: 'FileEntry' })

export const FileVersion = z
  .object({
    version: z.int(),
    content_sha256: z.string(),
    size: z.int(),
    content_type: z.string(),
    label: z.string().nullable(),
    created_at: time,
    created_by: z.string().meta({ description: 'The id of the token that wrote it.' }),
  })
  .meta({ id: 'FileVersion' })

export const FileDiff = z
  .object({
    from: FileVersion,
    to: FileVersion,
    binary: z.boolean().meta({ description: 'Whether one of the contents is no UTF-8 text.' }),
    diff: z.string().nullable().meta({ description: 'A unified diff of texts; null for binary contents.' }),
  })
  .meta({ id: 'FileDiff' })

/** Lines of a file. */
export const FileText = File.omit({ operation: true, dry_run: true })
  .extend({
    binary: z.boolean().meta({ description: 'Whether the content is no UTF-8 text.' }),
    text: z.string().nullable().meta({ description: 'The lines; null for binary contents.' }),
    from: z.int().meta({ description: 'The first line in the text, from 1; 0 for none.' }),
    to: z.int().meta({ description: 'The last line in the text.' }),
    lines: z.int().nullable().meta({ description: 'Lines of the file; null if it is large.' }),
    has_more: z.boolean().meta({ description: 'Whether the text was cut, at 1 MiB.' }),
  })
  .meta({ id: 'FileText' })

export const FileFields = graphql(`fragment FileFields on File {
  path file_type: fileType version content_sha256: contentSha256 size content_type: contentType metadata label
  created_at: createdAt updated_at: updatedAt
}`)

export const FileVersionFields = graphql(`fragment FileVersionFields on FileVersion {
  version content_sha256: contentSha256 size content_type: contentType label created_at: createdAt created_by: createdBy
}`)
