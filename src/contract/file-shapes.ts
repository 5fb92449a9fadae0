import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { CONTENT_TYPE, MEDIA_TOKEN } from './attachment-rules.ts'
import { Description, expectedVersion, Name } from './shapes.ts'

/** Zod shapes of file types and files, shared by all layers. */

const ALLOWED_TYPE = new RegExp(`^${MEDIA_TOKEN}/(${MEDIA_TOKEN}|\\*)$`)

export const FileStorage = z
  .strictObject({
    max_bytes: z
      .int()
      .min(0)
      .max(LIMITS.fileBytesMax)
      .optional()
      .meta({ description: 'Maximum size of a file. Defaults to 5 GiB.' }),
    content_types: z
      .array(
        z
          .string()
          .regex(ALLOWED_TYPE, 'Write a content type as "text/plain", or all of a kind as "image/*".'),
      )
      .max(LIMITS.fileContentTypes, `It can name at most ${LIMITS.fileContentTypes} content types.`)
      .optional()
      .meta({ description: 'Content types that it takes, such as `text/plain` or `image/*`; none for any.' }),
    keep_versions: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ description: 'Number of content versions to keep of each file; null for all.' }),
    immutable: z
      .boolean()
      .optional()
      .meta({ description: 'Files can be created, and neither overwritten nor deleted. Defaults to false.' }),
  })
  .meta({ id: 'FileStorage' })

/** The body of a file type on every surface. */
export const FileTypeBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  storage: FileStorage.optional().meta({ description: 'What it stores, and for how long.' }),
  metadata_schema: z.unknown().optional().meta({
    description:
      'A JSON Schema of the metadata of its files, whose root is an object. `{}` allows any object.',
  }),
})

/** The body of a file type PUT. */
export const FileTypePut = FileTypeBody.omit({ metadata_schema: true }).extend({
  id: z.string().optional(),
  metadata_schema: FileTypeBody.shape.metadata_schema,
  expected_version: expectedVersion,
})

/** A content type of a file. */
export const ContentType = z
  .string()
  .max(LIMITS.contentTypeChars, `It must have at most ${LIMITS.contentTypeChars} characters.`)
  .regex(CONTENT_TYPE, 'It must be a media type such as "text/plain; charset=utf-8".')

/** The label of a content version. */
export const VersionLabel = z
  .string()
  .min(1, 'It must have at least one character.')
  .max(LIMITS.nameChars, `It must have at most ${LIMITS.nameChars} characters.`)
  .regex(/^[^\p{Cc}]*$/u, 'It must not contain control characters.')

/** The metadata of a file. */
export const FileMetadata = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= LIMITS.fileMetadataBytes,
    `It must have at most ${LIMITS.fileMetadataBytes} bytes.`,
  )

/** The properties of a file that a PUT sets, beside its content. */
export const FileProperties = z.strictObject({
  content_type: ContentType,
  metadata: FileMetadata,
  label: VersionLabel.nullable(),
})

/** What a JSON Patch of a file may change. Removed metadata are empty, and a removed label is none. */
export const PatchedFile = FileProperties.extend({
  path: z.string(),
  metadata: FileMetadata.default({}),
  label: VersionLabel.nullable().default(null),
})

/** One replacement in the text of a file. */
const TextEdit = z
  .strictObject({
    find: z
      .string()
      .min(1, 'It must have at least one character.')
      .max(LIMITS.foundTextChars, `It must have at most ${LIMITS.foundTextChars} characters.`)
      .meta({ description: 'The text to replace, as it is in the file. It must be there once.' }),
    replace: z.string().meta({ description: 'What to put in its place.' }),
    all: z.boolean().exactOptional().meta({ description: 'Replace it everywhere.' }),
  })
  .meta({ id: 'TextEdit' })

/** The members of a patch that edit the text of a file. At most one of them is sent. */
const TextEdits = {
  edits: z
    .array(TextEdit)
    .min(1, 'It must have at least one edit.')
    .max(LIMITS.fileEdits, `It can have at most ${LIMITS.fileEdits} edits.`)
    .optional()
    .meta({ description: 'Replacements in the text of the file, one after another.' }),
  patch: z.string().optional().meta({ description: 'A unified diff of the text of the file.' }),
}

/** The body of a file PATCH. */
export const FilePatch = z
  .strictObject({
    ...TextEdits,
    path: z
      .string()
      .optional()
      .meta({ description: 'The new path. The content and its versions move along.' }),
    metadata: FileMetadata.optional().meta({
      description: 'A merge patch (RFC 7396) of the metadata: null removes a member.',
    }),
    content_type: ContentType.optional(),
    label: VersionLabel.nullable()
      .optional()
      .meta({ description: 'The label of the current content version; null for none.' }),
  })
  .refine(({ edits, patch }) => edits === undefined || patch === undefined, {
    path: ['patch'],
    params: { code: 'exclusive' },
    message: 'Send edits or a patch, not both.',
  })
  .refine(({ edits, patch, path }) => path === undefined || (edits === undefined && patch === undefined), {
    path: ['path'],
    params: { code: 'exclusive' },
    message: 'Move the file and edit its text in two requests.',
  })
  .meta({ id: 'FilePatch' })

/** A range of lines in a request: `10-20`, `10-` for the rest, or `10` for one line. */
export const LINE_RANGE = /^(\d{1,9})(?:-(\d{1,9})?)?$/

/** The first and the last line; undefined if the text is no range. Without `to`, it goes on to the end. */
export function readLineRange(text: string): { from: number; to?: number } | undefined {
  const [, first, last] = LINE_RANGE.exec(text) ?? []
  if (first === undefined) return undefined
  const from = Number(first)
  if (!text.includes('-')) return { from, to: from }
  return { from, ...(last !== undefined && { to: Number(last) }) }
}
