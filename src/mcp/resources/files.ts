/** Files as MCP resources: the content of one, and the list of a type. */
import { buffer } from 'node:stream/consumers'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { decodeText } from '../../foundation/text-encoding.ts'
import { openContent } from '../../graphql/content.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { InvalidParams } from '../protocol/provider.ts'
import { type FileName, type FilesQuery, filesUri } from '../protocol/resource-uri.ts'
import { queryOf } from './uri-query.ts'

const Fields = graphql(`fragment ResourceFile on File {
  path file_type: fileType version content_sha256: contentSha256 size content_type: contentType metadata label
  created_at: createdAt updated_at: updatedAt
}`)
const find = staticOperation(
  `query ResourceFile($base: String!, $type: String!, $path: String!) {
    file(base: $base, fileType: $type, path: $path) { ...ResourceFile }
  }`,
  [Fields],
)
const list = staticOperation(
  `query ResourceFiles($base: String!, $type: String!, $prefix: String, $cursor: String, $limit: Int) {
    files(base: $base, fileType: $type, prefix: $prefix, cursor: $cursor, limit: $limit) {
      data { kind path file { ...ResourceFile } } hasMore limit offset nextCursor
    }
  }`,
  [Fields],
)

type One = Extract<FileName, { kind: 'file' }>
type Many = Extract<FileName, { kind: 'files' }>

/** The content of a file in the form of MCP: text, or bytes in base64. */
export type FileContent = { mimeType: string } & ({ text: string } | { blob: string })

/**
 * Reads the content of a file.
 * @throws InvalidParams for one that is too large
 */
export async function readFileResource(name: One, context: Context): Promise<FileContent> {
  const { file } = await find(name, context)
  const { size, content_sha256: sha256, content_type: mimeType } = file
  if (size > LIMITS.resourceFileBytes)
    throw new InvalidParams(
      `The file has ${size} bytes, and a resource at most ${LIMITS.resourceFileBytes}. Read its lines with get_file, or download it over REST.`,
    )
  const bytes = await buffer(await openContent(context, { sha256, size }))
  const text = decodeText(bytes)
  return { mimeType, ...(text === null ? { blob: bytes.toString('base64') } : { text }) }
}

/** Reads a page of the files of a type. `meta.next` is the URI of the next page. */
export async function readFilesResource(name: Many, context: Context): Promise<object> {
  const { base, type } = name
  const query = filesQueryOf(name)
  const { files } = await list({ base, type, ...query, limit: LIMITS.resourceRecords }, context)
  const rows = files.data.map(({ kind, path, file }) => ({ kind, path, ...(file && trim(file)) }))
  const body = pageBody({ ...files, data: rows })
  if (files.nextCursor === null) return body
  return {
    ...body,
    meta: { ...body.meta, next: filesUri(base, type, { ...query, cursor: files.nextCursor }) },
  }
}

const PARAMETERS = ['prefix', 'cursor']

/** @throws InvalidParams for an unknown parameter */
export const filesQueryOf = ({ query }: Many): FilesQuery => queryOf(query, 'A list of files', PARAMETERS)
