/** The page of the playground and its files, which `packages/playground` builds: GraphiQL, its editor and their workers. */
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serveBuiltFiles } from '../../http/built-files.ts'
import { SharedDocument } from '../../http/shared-document.ts'

type Manifest = { script: string; style: string }

const FILES = new URL('./playground-files/', import.meta.url)
/** Scripts are files of this server only. The editor and GraphiQL set styles of elements. */
export const PLAYGROUND_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; worker-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const manifest = async (): Promise<Manifest> =>
  JSON.parse(await readFile(new URL('manifest.json', FILES), 'utf8')) as Manifest

/** The page, the same at all addresses: its script reads the address. */
export const playgroundPage = new SharedDocument(async () => {
  const { script, style } = await manifest()
  return {
    type: 'text/html; charset=utf-8',
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphQL – Plinth</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script></head><body><div id="root"></div></body></html>
`,
  }
})

/** Serves the files of the page. */
export const playgroundFiles = (
  app: FastifyInstance,
  visit: (request: FastifyRequest) => Promise<void>,
): void => serveBuiltFiles(app, '/playground', FILES, visit)
