import { buckets, plainList } from './buckets.ts'
import { objects } from './objects.ts'
import type { Operation } from './operation.ts'
import { uploads } from './uploads.ts'

/** All operations of the gateway. The first row that fits a request runs. */
export const OPERATIONS: readonly Operation[] = [...uploads, ...buckets, plainList, ...objects]
