import type { FastifyRequest } from 'fastify'
import { tagged } from '../route/route.ts'
import { downloadRoute } from './download.ts'
import { metadataRoutes } from './metadata-routes.ts'
import { searchRoute } from './search.ts'
import { uploadRoute } from './upload.ts'

/** REST routes of files. */
export const files = tagged('Files', [...metadataRoutes, searchRoute, uploadRoute, downloadRoute])

/** Segments before the path of a file: `/v1/{base_id}/files/{file_type}/`. */
const BEFORE = 5

/**
 * Takes the path of a file from the URL as it was sent, since the router decodes the rest of a path in its own way.
 * Returns whether the route has such a path.
 */
export function takeFilePath(request: FastifyRequest): boolean {
  const params = request.params as Record<string, string>
  if (!('*' in params) || params['*'] === '') return false
  delete params['*']
  const [url = ''] = request.url.split('?', 1)
  params['path'] = url.split('/').slice(BEFORE).join('/')
  return true
}
