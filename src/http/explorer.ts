/** The explorer: its page at `/` and below `/b/`, and its files at `/assets`. `web/` has the sources, `dist/web` what is built. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { serveBuiltFiles } from './built-files.ts'
import { notFound } from './errors.ts'
import { asksForPage } from './html-page.ts'
import { addVary, SharedDocument } from './shared-document.ts'

/** From the sources and from the built package. */
const FOLDERS = [new URL('../../dist/web/', import.meta.url), new URL('../web/', import.meta.url)]

/** A file that the build of `web/` has left; undefined where it is not built. */
export const builtFile = (name: string, folders: readonly URL[] = FOLDERS): URL | undefined =>
  folders.map((folder) => new URL(name, folder)).find((file) => existsSync(file))

/** Scripts and requests of this server only, and no HTML from text: values of agents cannot become code. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; connect-src 'self'",
  "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ')

/** The explorer of this installation; undefined where it is not built. */
export function openExplorer(folders: readonly URL[] = FOLDERS) {
  const index = builtFile('index.html', folders)
  if (!index) return undefined
  const page = new SharedDocument(async () => ({
    type: 'text/html; charset=utf-8',
    body: await readFile(index, 'utf8'),
  }))
  const send = (request: FastifyRequest, reply: FastifyReply) =>
    page.send(
      request,
      reply.header('content-security-policy', POLICY).header('cross-origin-opener-policy', 'same-origin'),
    )
  /** Serves the files, and the page below `/b/`, to browsers only. */
  const routes = (app: FastifyInstance, visit: (request: FastifyRequest) => Promise<void>): void => {
    serveBuiltFiles(app, '/assets', new URL('assets/', index), visit)
    app.get('/b/*', { onRequest: visit }, (request, reply) => {
      addVary(reply, 'Accept')
      if (!asksForPage(request)) throw notFound(request)
      return send(request, reply)
    })
  }
  return { send, routes }
}
