/** PUT of a file: streams the body into the store of contents, then writes the file that refers to it. */

import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { ContentType, FileMetadata, VersionLabel } from '../../contract/file-shapes.ts'
import { trim } from '../../contract/response-bodies.ts'
import { check, inPart } from '../../contract/validate.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type StoredBlob, storeContent } from '../../graphql/content.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { readContentHeaders } from '../../http/content-headers.ts'
import { parseJson, pointer } from '../../json/parse.ts'
import { readContentConditions } from '../route/preconditions.ts'
import { queryShape, readQuery } from '../route/query.ts'
import { send } from '../route/reply.ts'
import { partsNamed, readKey } from '../route/request-parts.ts'
import type { Row } from '../route/route.ts'
import { onBase } from '../route/shapes.ts'
import { contentTag, File, FileFields, fileParams, locationOf, targetOf } from './shapes.ts'

const PATH = '/:base_id/files/:file_type/*'
const QUERY = queryShape(undefined, true)

const findPolicy = staticOperation(
  'query UploadPolicy($base: String!, $fileType: String!) { storage: fileStorage(base: $base, fileType: $fileType) }',
)
const putFile = staticOperation(
  `mutation PutFile($base: String!, $fileType: String!, $path: String!, $contentSha256: String!, $contentType: String!, $metadata: JSON, $label: String,
    $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
    written: putFile(base: $base, fileType: $fileType, path: $path, contentSha256: $contentSha256, contentType: $contentType, metadata: $metadata, label: $label,
      expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
      ...FileFields operation dry_run: dryRun
    }
  }`,
  [FileFields],
)

/** Stores the file. In order: the request without its body, the type, the body, the write. */
async function upload(request: FastifyRequest, reply: FastifyReply) {
  const params = check(fileParams, request.params, inPart('path'))
  const { dry_run: dryRun = false } = readQuery(QUERY, request.query as Record<string, unknown>) as {
    dry_run?: boolean
  }
  const sha256 = readContentHeaders(request.headers)
  const properties = readProperties(request.headers)
  const { hashes, ...conditions } = readContentConditions(request)
  const idempotencyKey = readKey(request)
  const context = request.caller
  const { base_id: base, file_type: fileType } = params
  const { storage } = await findPolicy({ base, fileType }, context).catch(atParams)
  const { max_bytes: maxBytes } = storage as { max_bytes: number }
  const content = await storeBody(request, { maxBytes, ...(sha256 !== undefined && { sha256 }) })
  Object.assign(context.write, {
    dryRun,
    idempotencyKey,
    request: () => [...partsNamed(request, PATH, content.sha256), properties],
    plan: null,
  })
  const variables = {
    ...targetOf(params),
    contentSha256: content.sha256,
    ...properties,
    expectedHashes: hashes,
    ...conditions,
  }
  const { written } = await putFile(variables, context).catch((thrown: unknown) => {
    if (isWithoutType(thrown)) return atParams(thrown)
    throw atUpload(thrown, context.write.replayed)
  })
  const answer = {
    status: written.operation === 'created' ? 201 : 200,
    body: trim(written),
    location: locationOf(params),
    etag: contentTag(written),
  }
  return send(request, reply, answer, context.write.replayed)
}

/** Streams the body into the store. Refuses a body that is declared as too large before it is read. */
async function storeBody(
  request: FastifyRequest,
  limits: { maxBytes: number; sha256?: string },
): Promise<StoredBlob> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.maxBytes)
    throw invalid({
      path: '',
      code: 'too_large',
      message: `A file of this type has at most ${limits.maxBytes} bytes. Send a smaller one.`,
      expected: limits.maxBytes,
      received: declared,
    })
  const body = request.body instanceof Readable ? request.body : Readable.from([])
  return storeContent(request.caller, body, limits)
}

const atParams = (thrown: unknown): never => {
  throw withPaths(thrown, (path) => (path === '/id' ? 'path/file_type' : path))
}

/** Whether the file type was deleted while the content arrived. */
const isWithoutType = (thrown: unknown): boolean =>
  thrown instanceof DomainError && thrown.details[0]?.code === 'file_type_not_found'

const PLACES: Readonly<Record<string, string>> = {
  id: 'path/path',
  path: 'path/path',
  content_type: 'header/Content-Type',
  metadata: 'header/X-File-Metadata',
  label: 'header/X-Service-Label',
  expected_hash: 'header/If-Match',
  expected_version: 'header/If-Match',
  idempotency_key: 'header/Idempotency-Key',
}

/** Rewrites the paths of details to the places of the request. */
function atUpload(thrown: unknown, replayed: boolean): unknown {
  const moved = withPaths(thrown, (path) => {
    const [, first = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(path) ?? []
    const place = PLACES[first]
    return place === undefined ? path : `${place}${rest}`
  })
  return moved instanceof DomainError ? Object.assign(moved, { replayed }) : moved
}

/** The route of the upload. */
export const uploadRoute: Row = {
  id: `PUT ${PATH}`,
  method: 'PUT',
  path: PATH,
  writes: true,
  spec: {
    summary: 'Create a file, or give it another content. The body is the content',
    need: onBase('write'),
    params: fileParams,
    content: 'body',
    versioned: 'content',
    statuses: [200, 201],
    answers: File,
    headers: [
      ['X-File-Metadata', 'The metadata of the file, as JSON.'],
      ['X-Service-Label', 'A label of the content version.'],
      ['Content-Digest', 'The digest of the content, which is checked: `sha-256=:<base64>:`.'],
    ],
  },
  mount: (app) =>
    void app.register(async (own) => {
      own.removeAllContentTypeParsers()
      own.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
      own.put(PATH, {
        handler: upload,
        bodyLimit: LIMITS.fileBytesMax,
        config: { need: onBase('write'), streams: '*' },
      })
    }),
}

// The properties of a file in the headers of its upload.

type Properties = { contentType: string; metadata: Record<string, unknown>; label: string | null }

/** @throws VALIDATION_ERROR at the header */
function readProperties(headers: IncomingHttpHeaders): Properties {
  const contentType = headers['content-type'] ?? UNKNOWN_CONTENT
  const metadata = textOf(headers, 'X-File-Metadata')
  const label = textOf(headers, 'X-Service-Label')
  return {
    contentType: check(ContentType, contentType, at('Content-Type')),
    metadata:
      metadata === undefined
        ? {}
        : check(FileMetadata, parseJson(metadata, 'header/X-File-Metadata'), at('X-File-Metadata')),
    label: label === undefined ? null : check(VersionLabel, label, at('X-Service-Label')),
  }
}

const at = (name: string) => (path: readonly PropertyKey[]) => `header/${name}${pointer(...path.map(String))}`

/** The text of a header, which Node reads as Latin-1 and clients send as UTF-8. */
function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const sent = headers[name.toLowerCase()]
  if (sent === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(String(sent), 'latin1'))
  } catch {
    throw invalid({ path: `header/${name}`, code: 'invalid_text', message: 'The header must be UTF-8.' })
  }
}
