/** Makes a base of an export, in one transaction: nobody sees the base before it is whole, and a crash leaves nothing. */
import { ID_RULES, isProductionBaseId } from '../../../contract/ids.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { type Base, LOCK_BASE_ID, putBase } from '../../configuration/bases/index.ts'
import { recheckRights } from '../../core/authentication/recheck-rights.ts'
import { receivedContent } from '../../core/contents/receive.ts'
import type { Scope } from '../../core/scope.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { openOwnContent, usingOwnContent } from '../../files/index.ts'
import { requirePermission } from '../../storage/access/access.ts'
import type { StoredBlob } from '../../storage/blobs/blob-store.ts'
import { applyEdits, type NewSecret, prepareEdits } from '../apply-edits.ts'
import { type Edit, editsBetween } from '../edits.ts'
import { atPlace } from '../failures.ts'
import { type CheckedFile, checkFile } from './check-file.ts'
import { asExported, completeImport, disabledTriggers, writeLines } from './write-lines.ts'

export type ImportedBase = {
  readonly base: Base
  readonly counts: Readonly<Record<string, number>>
  readonly secrets: readonly NewSecret[]
  readonly disabledTriggers: readonly string[]
}

type Importing = { readonly file: StoredBlob; readonly checked: CheckedFile }

/**
 * Checks the file that the request has stored, before the write begins, and removes it after.
 * @throws FORBIDDEN; CONFLICT; VALIDATION_ERROR with the first fault of the file; RATE_LIMITED if it was just removed
 */
export async function withCheckedFile<T>(
  scope: Scope,
  { id, contentSha256 }: { id: string; contentSha256: string },
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  requirePermission(scope.access, 'admin', id, '*')
  if (!isProductionBaseId(id)) throw invalidId(id)
  const file = receivedContent(scope, contentSha256, '/content_sha256')
  return usingOwnContent(scope, file, async () => {
    const source = await openOwnContent(scope, file)
    const checked = await checkFile(source).finally(() => source.destroy())
    return work({ ...scope, importing: { file, checked } satisfies Importing })
  })
}

/**
 * Writes the base. Its times, ids, versions and the order of its history are those of the file.
 * @throws CONFLICT when the id is taken; VALIDATION_ERROR for what the configuration or the database refuses
 */
export async function importBase(scope: WriteScope, id: string): Promise<ImportedBase> {
  const { file, checked } = scope.importing as Importing
  const write = async (within: WriteScope): Promise<ImportedBase> => {
    const configured = await configure(within, id, checked)
    const { counts } = checked
    const triggers = disabledTriggers(checked)
    if (scope.isRehearsal) return { ...configured, counts, disabledTriggers: triggers }
    const source = await openOwnContent(scope, file)
    await writeLines(within, id, checked, whileAllowed(scope, source)).finally(() => source.destroy())
    const base = await completeImport(within, id, checked)
    await recheckRights(scope)
    return { ...configured, base, counts, disabledTriggers: triggers }
  }
  // Under an Idempotency-Key, the answer and the base commit together, within the time of a request.
  if (scope.db.isTransaction) return write(scope)
  return scope.snapshots.write(scope.actor.tokenId ?? '', (tx) => write({ ...scope, db: tx }))
}

/** An import can take an hour, and ends with the rights of its token. */
async function* whileAllowed(scope: Scope, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const bytes of source) {
    await recheckRights(scope)
    yield bytes
  }
}

/** Makes the base with its configuration. */
async function configure(
  scope: WriteScope,
  id: string,
  { about, config, names }: CheckedFile,
): Promise<{ base: Base; secrets: readonly NewSecret[] }> {
  await scope.db.query(LOCK_BASE_ID, [id])
  await requireFree(scope, id)
  const { name, description, settings } = about.base
  const base = await putBase(scope, id, { name, description, settings }, NO_EXPECTATION)
  const located = (thrown: unknown, { kind, id: of }: Edit) =>
    atPlace(thrown, `/config.yaml${config.at(kind, of)}`)
  const originOf = ({ kind, id: of }: Edit) => (kind.name === 'record_type' ? (names.get(of) ?? {}) : {})
  const edits = await editsBetween(new Map(), config.resources)
  const prepared = await prepareEdits(edits, { located, originOf, optionsOf: asExported })
  const { secrets } = await applyEdits(scope, id, prepared, { isForced: false, located })
  return { base, secrets }
}

async function requireFree({ db }: Pick<Scope, 'db'>, id: string): Promise<void> {
  if ((await db.orm.base.count({ where: { id } })) === 0) return
  const message = `There is a base "${id}" already. Import it under another id, or delete that one first.`
  throw oneFault('CONFLICT', message, { path: 'path/id', code: 'exists' })
}

const invalidId = (received: string) =>
  invalid({
    path: 'path/id',
    code: 'invalid_id',
    message: `A base is imported as one of its own, and not as a preview. Its id must be ${ID_RULES.base}.`,
    received,
  })
