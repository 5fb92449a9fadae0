/** The page of the playground and its files, which `packages/playground` builds: GraphiQL, its editor and their workers. */
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from '../../http/errors.ts'
import { SharedDocument } from '../../http/shared-document.ts'

/** `files` are the names in an address. On disk each is compressed and ends with `.br`. */
type Manifest = { script: string; style: string; files: readonly string[] }

const FILES = new URL('./playground-files/', import.meta.url)
const unpack = promisify(brotliDecompress)
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ttf: 'font/ttf',
}
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

type Named = { Params: { file: string } }

/** Serves the files. Their names have a hash of their content, so clients keep them. */
export function playgroundFiles(
  app: FastifyInstance,
  visit: (request: FastifyRequest) => Promise<void>,
): void {
  let documents: Promise<ReadonlyMap<string, SharedDocument>> | undefined
  app.get<Named>('/playground/:file', { onRequest: visit }, async (request, reply) => {
    documents ??= manifest().then(({ files }) => new Map(files.map((file) => [file, documentOf(file)])))
    const document = (await documents).get(request.params.file)
    if (!document) throw notFound(request)
    return document.send(request, reply)
  })
}

const documentOf = (file: string): SharedDocument =>
  new SharedDocument(async () => {
    const brotli = await readFile(new URL(`${file}.br`, FILES))
    const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    return { type, body: await unpack(brotli), brotli }
  }, 'public, max-age=31536000, immutable')
