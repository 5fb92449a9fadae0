/** Renames a file, changes its properties, or edits its text. */
import type { z } from 'zod'
import { FilePatch, PatchedFile } from '../../contract/file-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { applyOperations, type PatchOperation, readOperations } from '../../json/json-patch.ts'
import type { WriteScope } from '../core/write/write.ts'
import { statement, timed } from '../storage/database/client.ts'
import { editFile } from './edit.ts'
import { FILE_COLUMNS, type File, type FileRow, hasProperties, logFile, toFile } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, fileNotFound, lockFile, pathTaken, requirePath } from './find.ts'
import { checkProperties, immutable, patchedMetadata, policyOf } from './policy.ts'
import { updateFile } from './put.ts'
import { enterAgain } from './text-index.ts'
import { relabelVersion } from './versions.ts'

const MOVE = timed(
  statement(
    'move_file',
    `UPDATE plinth.file SET path = $3, updated_at = now() WHERE base_id = $1 AND id = $2 RETURNING ${FILE_COLUMNS}`,
  ),
)

/** The properties to change; an absent one stays. Metadata are a merge patch, and a null label removes it. */
export type FileChanges = {
  path?: string | null | undefined
  metadata?: unknown
  contentType?: string | null | undefined
  label?: string | null | undefined
  /** Replacements in the text of the file. */
  edits?: unknown
  /** A unified diff of the text of the file. */
  patch?: string | null | undefined
  /** A JSON Patch (RFC 6902) of path, metadata, content type and label, in place of all others. */
  operations?: unknown
}

/**
 * Changes the given properties of the file, or its text.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR; CONFLICT when another file has the path
 */
export async function patchFile(
  scope: WriteScope,
  { path: text, ...place }: FileAddress,
  changes: FileChanges,
  expected: FileExpectation,
): Promise<File> {
  const policy = await policyOf(scope, 'write', place)
  const address = { ...place, path: requirePath(text) }
  const { operations, edits, patch, ...sent } = readChanges(changes)
  const edited = { metadata: sent.metadata, contentType: sent.content_type, label: sent.label }
  if (edits) return editFile(scope, address, policy, { edits }, edited, expected)
  if (patch !== undefined) return editFile(scope, address, policy, { patch }, edited, expected)
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const current = await lockFile(tx, address)
    checkFile(expected, current, address.path)
    if (!current) throw fileNotFound(address.path)
    const { path, ...properties } = operations ? await operated(current, operations) : merged(current, sent)
    const next = {
      sha256: current.content_sha256,
      size: current.size,
      version: current.version,
      contentType: properties.content_type,
      metadata: properties.metadata,
      label: properties.label,
    }
    checkProperties(scope, policy, next)
    const isMoved = path !== current.path
    const isTagged = !hasProperties(current, next)
    if (!isMoved && !isTagged) return { ...toFile(current), operation: 'unchanged' as const }
    if (isMoved && policy.storage.immutable) throw immutable(current.path, 'moved')
    const moved = isMoved ? await move(within, address, current, path) : current
    const row = isTagged ? await updateFile(tx, place.baseId, moved.id, next) : moved
    if (isTagged) await relabelVersion(tx, place.baseId, row)
    if (isMoved || row.content_type !== current.content_type) await enterAgain(within, place.baseId, row)
    if (isMoved) await logFile(within, place.baseId, row, 'create', { movedFrom: current.path })
    else await logFile(within, place.baseId, row, 'update')
    return { ...toFile(row), operation: 'updated' as const }
  })
}

/** The changes, checked. GraphQL sends null for an omitted field, except for the label. */
function readChanges({ operations, ...changes }: FileChanges) {
  const { path, metadata, contentType, label, edits, patch } = changes
  const sent = check(
    FilePatch,
    {
      ...(path != null && { path }),
      ...(metadata != null && { metadata }),
      ...(contentType != null && { content_type: contentType }),
      ...(label !== undefined && { label }),
      ...(edits != null && { edits }),
      ...(patch != null && { patch }),
    },
    inBody(),
  )
  const isPatch = operations !== undefined && operations !== null
  if (isPatch && Object.keys(sent).length > 0) throw notAlone()
  return {
    ...sent,
    path: sent.path === undefined ? undefined : requirePath(sent.path),
    operations: isPatch ? readOperations(operations, MEMBERS) : undefined,
  }
}

const MEMBERS = Object.keys(PatchedFile.shape)

const notAlone = () =>
  invalid({
    path: '/operations',
    code: 'exclusive',
    message: `Send operations alone: they can change ${MEMBERS.join(', ')}.`,
  })

type Properties = z.output<typeof PatchedFile>

const merged = (current: FileRow, sent: z.output<typeof FilePatch>): Properties => ({
  path: sent.path ?? current.path,
  metadata: patchedMetadata(current.metadata, sent.metadata),
  content_type: sent.content_type ?? current.content_type,
  label: sent.label === undefined ? current.label : sent.label,
})

async function operated(current: FileRow, operations: readonly PatchOperation[]): Promise<Properties> {
  const { path, metadata, content_type, label } = current
  const before = { path, metadata, content_type, label }
  const patched = await applyOperations(before, operations, LIMITS.fileMetadataBytes)
  const properties = check(PatchedFile, patched, inBody())
  // The surface takes a fault of "/path" for one of the URL.
  const at = operations.findLastIndex(({ path }) => path === '/path')
  return { ...properties, path: requirePath(properties.path, `/${at}`) }
}

/** Moves a locked file. In the log, the old path loses the file and the new one gets it. */
async function move(
  scope: WriteScope,
  address: FileAddress,
  current: FileRow,
  path: string,
): Promise<FileRow> {
  const { db } = scope
  if (await lockFile(db, { ...address, path })) throw pathTaken(path)
  await logFile(scope, address.baseId, current, 'delete', { movedTo: path })
  const [row] = await db.query<FileRow>(MOVE, [address.baseId, current.id, path])
  if (!row) throw new Error('A locked file is gone')
  return row
}
