/** A base as one file: GET exports it, and PUT makes a base of it. The files stream. */
import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isBaseId } from '../contract/ids.ts'
import { trim } from '../contract/response-bodies.ts'
import { check, inPart } from '../contract/validate.ts'
import { LIMITS } from '../foundation/limits.ts'
import { openExport, storeContent } from '../graphql/content.ts'
import type { Need } from '../graphql/context.ts'
import { staticOperation } from '../graphql/execute.ts'
import { readContentHeaders } from '../http/content-headers.ts'
import { Base, BaseFields } from './bases.ts'
import { NewSecrets } from './config.ts'
import { spellings } from './route/aliases.ts'
import { queryShape, readQuery } from './route/query.ts'
import { atRequest, send } from './route/reply.ts'
import { partsNamed, readKey } from './route/request-parts.ts'
import type { Route } from './route/route.ts'
import { streamOf } from './route/rows.ts'
import { baseId } from './route/shapes.ts'

const TAR = 'application/x-tar'
const EXPORT = '/:base_id/export'
const IMPORT = '/bases/:id/import'

const asAdministrator = ({ base_id, id = base_id ?? '' }: Record<string, string>): Need => ({
  permission: 'admin',
  base: id,
  recordType: '*',
})

const exportParams = z.strictObject({ base_id: baseId() })
const exportQuery = z.strictObject({
  history: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description: 'False leaves out former versions and the trash. Defaults to true.',
      schema: { type: 'boolean' },
    }),
})
const describeExport = staticOperation(
  'query ExportBase($base: String!) { found: baseExport(base: $base) { base filename } }',
)

async function download(request: FastifyRequest, reply: FastifyReply) {
  const { base_id: base } = check(exportParams, request.params, inPart('path'))
  const { history = true } = readQuery(exportQuery, request.query as Record<string, unknown>) as {
    history?: boolean
  }
  const context = request.caller
  const { found } = await describeExport({ base }, context).catch((thrown: unknown) => {
    throw atRequest(thrown, request, { query: exportQuery }, false)
  })
  reply.type(TAR).header('content-disposition', contentDisposition(found.filename))
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const chunks = openExport(context, base, { history })
  // What fails before the first bytes is answered. Later the answer is cut, and the file has no end.
  const first = await chunks.next()
  return reply.send(streamOf(first, chunks))
}

const importParams = z.strictObject({ id: baseId(isBaseId) })
const importQuery = queryShape(undefined, true)
const Imported = z
  .object({
    base: Base,
    counts: z.record(z.string(), z.int()).meta({ description: 'Numbers of what the file holds.' }),
    secrets: NewSecrets,
    disabled_triggers: z.array(z.string()).meta({
      description: 'Triggers that were enabled, and are not: nothing is sent until somebody enables them.',
    }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ImportedBase' })
const importBase = staticOperation(
  `mutation ImportBase($id: String!, $contentSha256: String!) {
    made: importBase(id: $id, contentSha256: $contentSha256) {
      base { ...BaseFields } counts secrets disabled_triggers: disabledTriggers dry_run: dryRun
    }
  }`,
  [BaseFields],
)

/** Stores the file, then makes the base. In order: the request without its body, the body, the write. */
async function upload(request: FastifyRequest, reply: FastifyReply) {
  const { id } = check(importParams, request.params, inPart('path'))
  const { dry_run: dryRun = false } = readQuery(importQuery, request.query as Record<string, unknown>) as {
    dry_run?: boolean
  }
  const context = request.caller
  const sha256 = readContentHeaders(request.headers)
  const idempotencyKey = readKey(request)
  const body = request.body instanceof Readable ? request.body : Readable.from([])
  const limits = { maxBytes: LIMITS.importBytes, ...(sha256 !== undefined && { sha256 }) }
  const content = await storeContent(context, body, limits)
  const parts = () => partsNamed(request, IMPORT, content.sha256)
  Object.assign(context.write, { dryRun, idempotencyKey, request: parts, plan: null })
  const { made } = await importBase({ id, contentSha256: content.sha256 }, context).catch(
    (thrown: unknown) => {
      throw atRequest(thrown, request, {}, context.write.replayed)
    },
  )
  const answer = { status: 201, body: trim({ ...made, base: trim(made.base) }), location: `/v1/bases/${id}` }
  return send(request, reply, answer, context.write.replayed)
}

/** Routes of a base as one file. */
export const baseFile: readonly Route[] = [
  {
    id: `GET ${EXPORT}`,
    method: 'GET',
    path: EXPORT,
    writes: false,
    spec: {
      tag: 'Bases',
      summary: 'Export a base as one file',
      need: asAdministrator,
      params: exportParams,
      query: exportQuery,
      content: 'answer',
      statuses: [200],
      answers: z.unknown(),
    },
    mount: (app) => {
      const options = {
        handler: download,
        compress: false as const,
        config: { need: asAdministrator, onlyAsks: true },
      }
      for (const url of spellings(EXPORT)) app.get(url, options)
    },
  },
  {
    id: `PUT ${IMPORT}`,
    method: 'PUT',
    path: IMPORT,
    writes: true,
    spec: {
      tag: 'Bases',
      summary: 'Make a base of the file of an export',
      need: asAdministrator,
      params: importParams,
      content: 'body',
      statuses: [201],
      answers: Imported,
      headers: [['Content-Digest', 'The digest of the file, which is checked: `sha-256=:<base64>:`.']],
    },
    mount: (app) =>
      void app.register(async (own) => {
        own.removeAllContentTypeParsers()
        own.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
        const config = { need: asAdministrator, streams: '*' } as const
        for (const url of spellings(IMPORT))
          own.put(url, { handler: upload, bodyLimit: LIMITS.importBytes, config })
      }),
  },
]
