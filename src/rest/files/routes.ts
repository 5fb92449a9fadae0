import type { Route } from '../route/route.ts'
import { downloadRoute } from './download.ts'
import { metadataRoutes } from './metadata-routes.ts'
import { searchRoute } from './search.ts'
import { uploadRoute } from './upload.ts'

/** REST routes of files. */
export const files: readonly Route[] = [...metadataRoutes, searchRoute, uploadRoute, downloadRoute]
