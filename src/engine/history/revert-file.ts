/** Reverts one change of a file, under the checks of a write to it. */

import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import {
  deleteFile,
  type FileExpectation,
  moveBack,
  patchFile,
  restoreContent,
  restoreFile,
} from '../files/index.ts'
import type { Change } from '../log/entry.ts'
import { statement } from '../storage/database/client.ts'
import { versionPurged } from './revert-record.ts'

/** The state of the entry `$3` itself, and that of the entry before it. */
const STATES = statement(
  'states_of_file',
  `SELECT data FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = 'file' AND id = $2 AND seq <= $3
   ORDER BY seq DESC LIMIT 2`,
)

type State = {
  path: string
  contentSha256: string
  contentType: string
  metadata: object
  label: string | null
  movedFrom?: string
  movedTo?: string
}
const ANY: FileExpectation = { ...NO_EXPECTATION, contents: null }

/** Restores the state before the change. Calls `requireLastChange` before it writes. */
export async function revertFile(
  scope: WriteScope,
  baseId: string,
  { id, operation, version, seq }: Pick<Change, 'id' | 'operation' | 'version' | 'seq'>,
  requireLastChange: () => Promise<void>,
): Promise<void> {
  const [fileType = '', path = ''] = id.split(/\/(.*)/s)
  const target = { baseId, fileType, path }
  const [own, before] = await scope.db.query<{ data: State | null }>(STATES, [baseId, id, seq])
  await requireLastChange()
  if (!own?.data) throw versionPurged(version)
  const { movedFrom, movedTo } = own.data
  if (movedFrom !== undefined) await patchFile(scope, target, { path: movedFrom }, ANY)
  else if (movedTo !== undefined) await moveBack(scope, target, movedTo)
  else if (operation === 'create' || operation === 'restore') await deleteFile(scope, target, ANY)
  else if (operation === 'delete') await restoreFile(scope, target, version)
  else if (before?.data) await restoreContent(scope, target, before.data)
  else throw versionPurged(version)
}
