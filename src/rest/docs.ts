import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_POLICY } from '../http/html-page.ts'
import { madeApart } from '../http/made-apart.ts'
import { SharedDocument } from '../http/shared-document.ts'
import { openapi } from './openapi.ts'
import type { Reference } from './reference.ts'

type Hook = (request: FastifyRequest) => Promise<void>

/**
 * Serves `/openapi.json` and the API reference at `/docs`, without a token and without requests to other
 * hosts.
 */
export function docs(visit: Hook) {
  return async (app: FastifyInstance): Promise<void> => {
    const description = new SharedDocument(async () => ({
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(await openapi()),
    }))
    app.get('/openapi.json', { onRequest: visit }, (request, reply) => description.send(request, reply))

    let made: Promise<Reference> | undefined
    const reference = (type: string, part: keyof Reference) =>
      new SharedDocument(async () => {
        made ??= madeApart<Reference>(import.meta.url, './reference')
        return { type, body: (await made)[part] }
      })
    const page = reference('text/html; charset=utf-8', 'page')
    const script = reference('application/javascript; charset=utf-8', 'script')
    app.get('/docs', { onRequest: visit }, async (_request, reply) => reply.redirect('/docs/', 301))
    app.get('/docs/', { onRequest: visit }, (request, reply) =>
      page.send(request, reply.header('content-security-policy', PAGE_POLICY)),
    )
    app.get('/docs/js/scalar.js', { onRequest: visit }, (request, reply) => script.send(request, reply))
  }
}
