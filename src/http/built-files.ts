/** Files that a build leaves in a folder, each as `<name>.br`. Their names have a hash of their content, so clients keep them. */
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from './errors.ts'
import { SharedDocument } from './shared-document.ts'

const unpack = promisify(brotliDecompress)
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
}
type Named = { Params: { file: string } }

/** Serves the files of a folder at `<prefix>/<name>`, without a token. The folder is read at the first request. */
export function serveBuiltFiles(
  app: FastifyInstance,
  prefix: string,
  folder: URL,
  visit: (request: FastifyRequest) => Promise<void>,
): void {
  let documents: Promise<ReadonlyMap<string, SharedDocument>> | undefined
  app.get<Named>(`${prefix}/:file`, { onRequest: visit }, async (request, reply) => {
    documents ??= documentsOf(folder)
    const document = (await documents).get(request.params.file)
    if (!document) throw notFound(request)
    return document.send(request, reply)
  })
}

async function documentsOf(folder: URL): Promise<ReadonlyMap<string, SharedDocument>> {
  const names = await readdir(folder).catch(() => [])
  return new Map(
    names
      .filter((name) => name.endsWith('.br'))
      .map((name) => [name.slice(0, -3), documentOf(new URL(name, folder))]),
  )
}

const documentOf = (file: URL): SharedDocument =>
  new SharedDocument(async () => {
    const brotli = await readFile(file)
    const type =
      TYPES[file.pathname.replace(/\.br$/, '').split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    return { type, body: await unpack(brotli), brotli }
  }, 'public, max-age=31536000, immutable')
