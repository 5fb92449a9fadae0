/** Bases: containers of record types, records and configuration. */
import { ID_RULES, isBaseId, isProductionBaseId, productionOf } from '../../../contract/ids.ts'
import { BaseBody } from '../../../contract/shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { announce } from '../../core/cache-notices.ts'
import type { ChangeSetState } from '../../core/change-set/state.ts'
import { missingBase } from '../../core/existing-base.ts'
import { confirmFirst, type Expectation } from '../../core/write/preconditions.ts'
import { summarizeBases } from '../../core/write/summarize-bases.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dropEntries, dropIndexes } from '../../data/indexes/index.ts'
import type { Base as PlainRow } from '../../prisma/client.ts'
import { requireKnownBase, requirePermission } from '../../storage/access/access.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { enqueue } from '../../storage/database/enqueue-job.ts'
import type { DeleteOptions, FieldsOf, Kind, View } from '../lifecycle/kind.ts'
import { put, remove } from '../lifecycle/lifecycle.ts'
import { withdrawBase } from '../tokens/index.ts'
import { closeSecretsTo } from '../vault-secrets/index.ts'
import { type BaseRow, baseTable, highestVersion, LOCK_BASE_ID } from './table.ts'

const CONTENT = statement(
  'content_of_base',
  `SELECT file_index_id::text AS files_index,
     EXISTS (SELECT FROM plinth.record WHERE base_id = $1) OR EXISTS (SELECT FROM plinth.draft_record WHERE branch = $1) AS has_records,
     EXISTS (SELECT FROM plinth.file WHERE base_id = $1 AND deleted_at IS NULL) AS has_files
   FROM plinth.base WHERE id = $1`,
)
type Content = { files_index: string; has_records: boolean; has_files: boolean }
// Links go first, because their foreign keys reference records.
const CLEAR_LINKS = statement('clear_base_links', 'DELETE FROM plinth.relationship WHERE base_id = $1')
const LOCK_ROW = statement(
  'lock_base_to_delete',
  'SELECT 1 AS one FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)

/** Deletes the records that a base and its previews hold. A base with records or files requires its id in `confirm`. */
async function deleteContentOf(
  scope: WriteScope,
  current: BaseRow,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db: tx } = scope
  const { id } = current
  const previews = await lockPreviews(tx, id)
  await summarizeBases(scope, [current, ...previews])
  checkPlan()
  for (const member of [...previews, current]) {
    const [content] = await tx.query<Content>(CONTENT, [member.id])
    if (!scope.planning && confirm !== id && content && (content.has_records || content.has_files))
      throw confirmFirst(id, `Base "${id}" holds ${content.has_records ? 'records' : 'files'}`, 'the base')
    await dropIndexes(tx, member.id, null)
    if (content) await dropEntries(tx, member.id, content.files_index)
    await tx.query(CLEAR_LINKS, [member.id])
    await withdrawBase(scope, member.id)
    await closeSecretsTo(scope, member.id)
  }
  for (const preview of previews) {
    await announce(tx, `base:${preview.id}`)
    scope.onCommit(() => scope.caches.forget(`base:${preview.id}`))
  }
}

/**
 * Locks the previews of a base whose id is locked, and returns them. Their ids: against concurrent deletions.
 * The row of the base before theirs: that is the order of promotions.
 */
async function lockPreviews(tx: Db, id: string): Promise<PlainRow[]> {
  const find = () => tx.orm.base.findMany({ where: { productionBase: id }, orderBy: { id: 'asc' } })
  for (const preview of await find()) await tx.query(LOCK_BASE_ID, [preview.id])
  await tx.query(LOCK_ROW, [id])
  return find()
}

type Fields = FieldsOf<typeof BaseBody>
export type Base = View<Fields> &
  Pick<BaseRow, 'environment' | 'productionBase'> & {
    /** Of a change-set that was opened just now. */
    readonly changeSet?: ChangeSetState
  }

export const DEFAULT_SETTINGS = {
  schema_changes: 'direct',
  history_days: null,
  trash_days: 30,
  calls_days: 7,
  call_arguments: false,
  change_sets: { approvals: 0, self_approval: true, expire_days: 30 },
} as const

/** Bases. They share the lifecycle, and are not in `KINDS`: no base is part of the configuration of another. */
export const BASE: Kind<Fields, BaseRow> = {
  name: 'base',
  label: 'a base',
  codes: { notFound: 'base_not_found' },
  body: BaseBody,
  ids: { isValid: isBaseId, rule: ID_RULES.base },
  defaults: (id) => ({ name: id, description: null, settings: DEFAULT_SETTINGS }),
  normalize: ({ settings, ...fields }) => ({
    ...fields,
    settings: {
      ...{ ...DEFAULT_SETTINGS, ...settings },
      change_sets: { ...DEFAULT_SETTINGS.change_sets, ...settings?.change_sets },
    },
  }),
  table: baseTable,
  rights: { read: (scope, id) => requireKnownBase(scope.access, id) },
  // Without the id of the base that it is in, because that is its own.
  logged: ({ environment, productionBase }) => ({ baseId: undefined, environment, productionBase }),
  lock: ({ db }, id) => db.query(LOCK_BASE_ID, [id]),
  check: async (_loaded, { id, current }) => ({
    faults: current || isProductionBaseId(id) ? [] : [isPreview(id)],
    columns: () => (current ? {} : { environment: 'production' }),
  }),
  written: async ({ db }, { id, version, settings }) => {
    const { history_days: days } = settings as Fields['settings']
    if (version > 1 && days !== null) await enqueue(db, 'purge_history', { base: id }, `purge:${id}`)
  },
  beforeDelete: deleteContentOf,
  lastVersion: ({ db }, { id }) => highestVersion(db, id),
  topic: ({ id }) => `base:${id}`,
  hasOwnLog: true,
  missing: missingBase,
}

const isPreview = (received: string): Detail => ({
  path: '/id',
  code: 'invalid_id',
  message: 'A preview cannot be created by PUT. Create it from its base.',
  received,
})

/** Creates the base or replaces its name, description and settings. Omitted fields get their defaults. */
export const putBase = (scope: WriteScope, id: string, input: object, expected: Expectation): Promise<Base> =>
  put({ kind: BASE, scope, baseId: id, id }, input, { expected }) as Promise<Base>

/** Whoever opened a change-set may drop it. */
const isOwnChangeSet = async ({ db, actor }: WriteScope, id: string): Promise<boolean> =>
  actor.tokenId !== null &&
  (await db.orm.changeSet.count({ where: { baseId: id, tokenId: actor.tokenId } })) > 0

/** Deletes the base with its content and its previews. A base with records or files requires its id in `confirm`. */
export async function deleteBase(
  scope: WriteScope,
  id: string,
  confirm: string | null,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  if (await isOwnChangeSet(scope, id)) {
    const access = compileAccess([
      { base: productionOf(id), record_type: '*', environment: 'preview', permission: 'manage' },
    ])
    return remove({ kind: BASE, scope: { ...scope, access }, baseId: id, id }, { confirm, expected })
  }
  requirePermission(scope.access, isProductionBaseId(id) ? 'admin' : 'manage', id, '*')
  requirePermission(scope.access, 'read', productionOf(id), '*')
  return remove({ kind: BASE, scope, baseId: id, id }, { confirm, expected })
}
