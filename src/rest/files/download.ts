/** GET of a file: its content, its metadata, some lines, its versions, or the difference of two versions. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { LINE_RANGE, readLineRange } from '../../contract/file-shapes.ts'
import { pageBody } from '../../contract/response-bodies.ts'
import { check, inPart } from '../../contract/validate.ts'
import { invalid } from '../../foundation/errors.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { MAX_INT4 } from '../../foundation/units.ts'
import { openContent } from '../../graphql/content.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { sendContent } from '../../http/send-content.ts'
import { listOf } from '../route/page.ts'
import { readConditions } from '../route/preconditions.ts'
import { pageOf, pageQuery, readQuery, whole } from '../route/query.ts'
import { atRequest } from '../route/reply.ts'
import type { Row } from '../route/route.ts'
import { onBase } from '../route/shapes.ts'
import {
  File,
  FileDiff,
  FileFields,
  FileText,
  FileVersion,
  FileVersionFields,
  fileParams,
  targetOf,
} from './shapes.ts'

const PATH = '/:base_id/files/:file_type/*'

/** A parameter whose presence counts, `?history` or `?history=1`. */
const present = (description: string) =>
  z
    .enum(['', '1', 'true'])
    .transform(() => true)
    .optional()
    .meta({ description, schema: { type: 'string', enum: ['', '1', 'true'] } })
const versionOf = (description: string) => whole(1, MAX_INT4, undefined, description)

const QUERY = pageQuery.extend({
  meta: present('Answer the metadata of the file as JSON.'),
  version: versionOf('The content version to return; the current one by default.'),
  history: present('List the content versions, newest first.'),
  lines: z
    .string()
    .regex(LINE_RANGE, 'It must be a range of lines, such as 10-20, or 10- to the end.')
    .optional()
    .meta({ description: 'Answer these lines of a text file as JSON, such as `10-20` or `10-`.' }),
  diff: present('Compare two content versions: a unified diff of texts.'),
  from: versionOf('With `diff`: the earlier version.'),
  to: versionOf('With `diff`: the later version.'),
})
type Query = z.output<typeof QUERY>

const getFile = staticOperation(
  `query GetFile($base: String!, $fileType: String!, $path: String!, $version: Int) {
    found: file(base: $base, fileType: $fileType, path: $path, version: $version) { ...FileFields }
  }`,
  [FileFields],
)
const listVersions = staticOperation(
  `query FileHistory($base: String!, $fileType: String!, $path: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
    page: fileVersions(base: $base, fileType: $fileType, path: $path, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
      data { ...FileVersionFields } hasMore truncated limit offset total nextCursor
    }
  }`,
  [FileVersionFields],
)
const readLines = staticOperation(
  `query FileLines($base: String!, $fileType: String!, $path: String!, $version: Int, $from: Int, $to: Int) {
    found: fileText(base: $base, fileType: $fileType, path: $path, version: $version, from: $from, to: $to) {
      file { ...FileFields } binary text from to lines has_more: hasMore
    }
  }`,
  [FileFields],
)
const compareVersions = staticOperation(
  `query CompareFile($base: String!, $fileType: String!, $path: String!, $from: Int!, $to: Int!) {
    found: fileDiff(base: $base, fileType: $fileType, path: $path, from: $from, to: $to) {
      from { ...FileVersionFields } to { ...FileVersionFields } binary diff
    }
  }`,
  [FileVersionFields],
)

async function get(request: FastifyRequest, reply: FastifyReply) {
  const params = check(fileParams, request.params, inPart('path'))
  const query = readQuery(QUERY, request.query as Record<string, unknown>) as Query
  readConditions(request, false, undefined)
  const form = formOf(query)
  const target = targetOf(params)
  const context = request.caller
  const fail = (thrown: unknown) => {
    throw atRequest(thrown, request, { query: QUERY, renamed: { id: 'file_type' } }, false)
  }
  if (form === 'history') {
    const { page } = await listVersions({ ...target, ...omitUndefined(pageOf(query)) }, context).catch(fail)
    return reply.send(pageBody(page))
  }
  if (form === 'diff') {
    const [from, to] = [required(query, 'from'), required(query, 'to')]
    return reply.send((await compareVersions({ ...target, from, to }, context).catch(fail)).found)
  }
  if (form === 'lines') {
    const lines = { version: query.version ?? null, ...readLineRange(query.lines ?? '') }
    const { file, ...text } = (await readLines({ ...target, ...lines }, context).catch(fail)).found
    return reply.send({ ...file, ...text })
  }
  const { found } = await getFile({ ...target, version: query.version ?? null }, context).catch(fail)
  if (form === 'meta') return reply.send(found)
  const { content_sha256: sha256, content_type: contentType, size, path } = found
  const filename = path.slice(path.lastIndexOf('/') + 1)
  return sendContent(request, reply, { sha256, size, contentType, filename }, (range) =>
    openContent(context, { sha256, size }, range),
  )
}

type Form = 'content' | 'meta' | 'lines' | 'history' | 'diff'
const TAKES: Readonly<Record<Form, readonly string[]>> = {
  content: ['version'],
  meta: ['meta', 'version'],
  lines: ['lines', 'version'],
  history: ['history', 'limit', 'offset', 'cursor', 'include_total'],
  diff: ['diff', 'from', 'to'],
}

/**
 * What the query asks for.
 * @throws VALIDATION_ERROR for a parameter that belongs to something else
 */
function formOf(query: Query): Form {
  const form = (['history', 'diff', 'meta', 'lines'] as const).find((each) => query[each]) ?? 'content'
  const other = Object.entries(query).find(
    ([name, value]) => value !== undefined && !TAKES[form].includes(name),
  )
  if (!other) return form
  throw invalid({
    path: `query/${other[0]}`,
    code: 'exclusive',
    message: `"${other[0]}" cannot be combined with ${form === 'content' ? 'a download' : `"${form}"`}. Leave it out.`,
  })
}

function required(query: Query, name: 'from' | 'to'): number {
  const version = query[name]
  if (version !== undefined) return version
  throw invalid({
    path: `query/${name}`,
    code: 'required',
    message: `"${name}" is a version. "diff" needs it.`,
  })
}

/** The route of the download. HEAD answers the same headers. */
export const downloadRoute: Row = {
  id: `GET ${PATH}`,
  method: 'GET',
  path: PATH,
  writes: false,
  spec: {
    summary: 'Download a file, or read its metadata, some lines, its versions, or the difference of two',
    need: onBase('read'),
    params: fileParams,
    query: QUERY,
    content: 'answer',
    versioned: 'content',
    statuses: [200, 206],
    answers: z.union([File, FileText, listOf(FileVersion), FileDiff]),
    headers: [
      ['Range', 'A range of bytes of the content: `bytes=0-99`, `bytes=100-` or `bytes=-100`.'],
      ['If-Range', 'The ETag that the range is of. With another one, the whole content is sent.'],
    ],
  },
  mount: (app) =>
    void app.get(PATH, {
      handler: get,
      compress: false,
      config: { need: onBase('read'), onlyAsks: true },
    }),
}
