import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { runInWorker } from '../foundation/run-in-worker.ts'
import { PAGE_POLICY } from '../http/html-page.ts'
import { SharedDocument } from '../http/shared-document.ts'
import type { Reference } from './api-reference.ts'
import { openapi } from './openapi/document.ts'

/** A test keeps the file equal to the kinds of configuration. */
const CONFIG_SCHEMA = new URL('../../schema/config.schema.json', import.meta.url)

type Hook = (request: FastifyRequest) => Promise<void>

/**
 * Serves `/openapi.json`, `/config.schema.json` and the API reference at `/docs`, without a token and without requests to other
 * hosts.
 */
export function docs(visit: Hook) {
  return async (app: FastifyInstance): Promise<void> => {
    const description = new SharedDocument(async () => ({
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(await openapi()),
    }))
    app.get('/openapi.json', { onRequest: visit }, (request, reply) => description.send(request, reply))

    const configSchema = new SharedDocument(async () => ({
      type: 'application/schema+json',
      body: await readFile(CONFIG_SCHEMA),
    }))
    app.get('/config.schema.json', { onRequest: visit }, (request, reply) =>
      configSchema.send(request, reply),
    )

    let made: Promise<Reference> | undefined
    const reference = (type: string, part: keyof Reference) =>
      new SharedDocument(async () => {
        made ??= runInWorker<Reference>(import.meta.url, './api-reference')
        return { type, body: (await made)[part] }
      })
    const page = reference('text/html; charset=utf-8', 'page')
    const script = reference('application/javascript; charset=utf-8', 'script')
    for (const path of ['/docs', '/docs/'])
      app.get(path, { onRequest: visit }, (request, reply) =>
        page.send(request, reply.header('content-security-policy', PAGE_POLICY)),
      )
    app.get('/docs/js/scalar.js', { onRequest: visit }, (request, reply) => script.send(request, reply))
  }
}
