/** The policy of a file type, prepared for reads and writes of its files. */
import { mediaTypeOf } from '../../contract/attachment-rules.ts'
import { FileMetadata } from '../../contract/file-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, type DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { FILE_TYPE, type Storage } from '../configuration/file-types/index.ts'
import { missing } from '../configuration/lifecycle/read.ts'
import { compiledCache } from '../core/compiled-cache.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { type CompiledSchema, compileSchema } from '../schema/json-schema/compile.ts'
import { requireFiles } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'

export type FilePolicy = { readonly storage: Storage; readonly schema: CompiledSchema }

const GET_POLICY = statement(
  'get_file_policy',
  'SELECT storage, metadata_schema FROM plinth.file_type WHERE base_id = $1 AND id = $2',
)

// Waits for a deletion of the type, and blocks later ones.
const LOCK_TYPE = statement(
  'lock_file_type_of_write',
  'SELECT 1 AS one FROM plinth.file_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE',
)

const POLICIES = compiledCache<FilePolicy>({
  max: 1000,
  per: 'resource',
  from: ['file_type'],
  async load(scope, key) {
    const [baseId = '', id = ''] = key.split('/')
    const [row] = await scope.db.query<{ storage: Storage; metadata_schema: object }>(GET_POLICY, [
      baseId,
      id,
    ])
    return row && { storage: row.storage, schema: compileSchema(row.metadata_schema, '/metadata_schema') }
  },
})

/** The files of one type in a base. */
export type Place = { readonly baseId: string; readonly fileType: string }

/**
 * The policy of the file type, for a caller with the permission on its files.
 * @throws FORBIDDEN; NOT_FOUND when the base or the type is absent
 */
export async function policyOf(
  scope: Scope,
  permission: 'read' | 'write',
  { baseId, fileType }: Place,
): Promise<FilePolicy> {
  requireFiles(scope.access, permission, baseId, fileType)
  const policy = await POLICIES.get(scope, `${baseId}/${fileType}`)
  if (!policy) throw await missing({ kind: FILE_TYPE, scope, baseId, id: fileType })
  return policy
}

/**
 * Locks the file type against deletion, for a transaction that adds a file to it. A cached policy can be that of a type that was
 * deleted meanwhile.
 * @throws NOT_FOUND
 */
export async function lockType(scope: Scope, { baseId, fileType }: Place): Promise<void> {
  const locked = await scope.db.query(LOCK_TYPE, [baseId, fileType])
  if (locked.length === 0) throw await missing({ kind: FILE_TYPE, scope, baseId, id: fileType })
}

type Properties = { contentType: string; metadata: Readonly<Record<string, unknown>> }

/**
 * Checks the properties of a file against the policy of its type.
 * @throws VALIDATION_ERROR
 */
export function checkProperties(
  { checks }: WriteScope,
  { storage, schema }: FilePolicy,
  { contentType, metadata }: Properties,
): void {
  const faults: Detail[] = [
    ...contentTypeFaults(storage, contentType),
    ...schema.validate(metadata, '/metadata', checks),
  ]
  const [fault, ...more] = faults
  if (fault) throw invalid(fault, ...more)
}

function contentTypeFaults({ content_types: allowed }: Storage, received: string): Detail[] {
  const type = mediaTypeOf(received)
  const isAllowed = (each: string) =>
    each.endsWith('/*') ? type.startsWith(each.slice(0, -1)) : type === each
  if (allowed.length === 0 || allowed.some((each) => isAllowed(each.toLowerCase()))) return []
  const message = `The file type does not take "${received}". It takes ${allowed.join(', ')}.`
  return [
    { path: '/content_type', code: 'content_type_not_allowed', message, received, allowed: [...allowed] },
  ]
}

/** Error for a change that an immutable file type refuses. */
export const immutable = (path: string, what: string): DomainError =>
  oneFault('CONFLICT', `The file type is immutable: "${path}" cannot be ${what}.`, {
    path: '/path',
    code: 'immutable',
    message: 'Write to another path, or change the storage policy.',
  })

/**
 * The storage policy that files of the type are written under.
 * @throws FORBIDDEN without `write` on the files; NOT_FOUND
 */
export const storageOf = async (scope: Scope, place: Place): Promise<Storage> =>
  (await policyOf(scope, 'write', place)).storage

/**
 * The metadata with a merge patch applied.
 * @throws VALIDATION_ERROR when they become too large
 */
export const patchedMetadata = (
  current: Properties['metadata'],
  patch: Properties['metadata'] | undefined,
) => (patch === undefined ? current : check(FileMetadata, mergePatch(current, patch), inBody('/metadata')))
