/** Opens change-sets: previews that copy nothing. */
import { randomInt } from 'node:crypto'
import { anyPreviewOf, productionOf } from '../../../contract/ids.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { BASE, type Base, LOCK_PREVIEW_ID, toRow } from '../../configuration/bases/index.ts'
import { stateOf, viewOf } from '../../configuration/lifecycle/fields.ts'
import { lastVersionOf } from '../../configuration/lifecycle/version-history.ts'
import { appendChanges } from '../../core/append-change.ts'
import { stepEntry } from '../../core/change-set/lifecycle.ts'
import type { Opening } from '../../core/change-set/opening.ts'
import type { ChangeSetState } from '../../core/change-set/state.ts'
import { baseNotFound } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import { requestChecks, type WriteScope } from '../../core/write/write.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { exists, previewOfPreview, tooMany } from '../preview-place.ts'

// A base may have as many more as are opened at the same moment: their writers do not wait for each other. The opening is the first
// step.
const OPEN = statement(
  'open_change_set',
  `WITH place AS (
     SELECT p.id, p.settings, EXISTS (SELECT FROM plinth.base WHERE id = $2) AS is_taken,
       (SELECT count(*)::int FROM plinth.base b JOIN plinth.change_set c ON c.base_id = b.id
        WHERE b.production_base = $1 AND c.closed_at IS NULL) AS open,
       1 + ${lastVersionOf('$2', "'base'", '$2', 'ARRAY[$2, $1]')} AS version
     FROM plinth.base p WHERE p.id = $1),
   made AS (
     INSERT INTO plinth.base (id, name, description, environment, production_base, settings, types_version, version, first_version)
     SELECT $2, $3, $4, 'preview', id, settings, 1, version, version FROM place WHERE NOT is_taken AND open < ${LIMITS.changeSets}
     RETURNING id, version, created_at, updated_at),
   opened AS (INSERT INTO plinth.change_set (base_id, title, token_id, actor_name, steps) SELECT id, $5, $6, $7, 1 FROM made)
   SELECT place.settings, place.is_taken, place.version, made.created_at, made.updated_at FROM place LEFT JOIN made ON true`,
)
type Opened = {
  settings: Base['settings']
  is_taken: boolean
  version: number
  created_at: Date | null
  updated_at: Date | null
}

const WITHDRAW = statement('withdraw_change_set', 'DELETE FROM plinth.base WHERE id = $1')
const IS_THERE = statement('is_change_set_there', 'SELECT 1 AS one FROM plinth.change_set WHERE base_id = $1')

type Place = { readonly baseId: string; readonly name: string }
type Named = { readonly description: string | null; readonly title: string | undefined }
const UNNAMED: Named = { description: null, title: undefined }

const idOf = ({ baseId, name }: Place): string => `${anyPreviewOf(baseId)}${name}`

/**
 * Opens the change-set `<base>--<name>`.
 * @throws FORBIDDEN without `write` on records in previews, and `read` in production; VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function openChangeSet(
  scope: WriteScope,
  baseId: string,
  { name = newName(), ...named }: Named & { name: string | undefined },
): Promise<Base> {
  const place = { baseId, name }
  requireOpener(scope, place)
  return scope.db.statements(async (db) => {
    const within = { ...scope, db }
    await db.query(LOCK_PREVIEW_ID, [baseId, idOf(place)])
    const row = await insert(within, place, named)
    await log(within, row, named, 0)
    return { ...(viewOf(BASE, row) as Base), changeSet: stateOfNew(scope, row, named) }
  })
}

/** How the change-set of this name is opened by the first write in it. */
export function openingOf(scope: Scope, place: Place): Opening {
  const id = idOf(place)
  const withinOf = (db: Db): WriteScope => ({ ...scope, db, checks: requestChecks(), onCommit: () => {} })
  return {
    isOpen: false,
    async open(db) {
      requireOpener(scope, place)
      await db.query(LOCK_PREVIEW_ID, [place.baseId, id])
      if ((await db.query(IS_THERE, [id])).length > 0) return undefined
      const row = await insert(withinOf(db), place, UNNAMED)
      return async (isWritten) => {
        if (isWritten) await log(withinOf(db), row, UNNAMED, 1)
        else await db.query(WITHDRAW, [id])
      }
    },
  }
}

function requireOpener({ access }: Scope, place: Place): void {
  const { baseId } = place
  requireBaseAccess(access, baseId)
  if (productionOf(baseId) !== baseId) throw previewOfPreview(baseId)
  const writable = access.types('write', idOf(place))
  if (writable !== '*' && writable.size === 0) requirePermission(access, 'write', idOf(place), '*')
}

type Row = ReturnType<typeof toRow>

async function insert({ db, actor }: Scope, place: Place, { description, title }: Named): Promise<Row> {
  const { baseId, name } = place
  const id = idOf(place)
  const values = [baseId, id, name, description, title ?? null, actor.tokenId, actor.name]
  const [made] = await db.query<Opened>(OPEN, values)
  if (!made) throw baseNotFound(baseId)
  const { settings, version, is_taken: isTaken, created_at: createdAt, updated_at: updatedAt } = made
  if (isTaken) throw exists(id)
  if (!createdAt || !updatedAt) throw tooMany(baseId, LIMITS.changeSets)
  return toRow({
    ...{
      id,
      name,
      description,
      environment: 'preview',
      productionBase: baseId,
      settings: settings as Row['settings'],
    },
    ...{ typesVersion: 1, version, firstVersion: version, createdAt, updatedAt },
  })
}

/** Logs the opening. A new base that has no configuration is in no cache, and so needs no notice. */
const log = (within: WriteScope, row: Row, { title }: Named, revision: number): Promise<void> =>
  appendChanges(within, [
    {
      ...{ baseId: row.id, kind: 'base', id: row.id, operation: 'create', version: row.version },
      state: stateOf(BASE, row),
    },
    stepEntry(row.id, 1, { status: 'open', title: title ?? null, revision }, { event: 'opened' }),
  ])

const stateOfNew = ({ actor }: Scope, { settings, createdAt }: Row, { title }: Named): ChangeSetState => ({
  ...{
    title: title ?? null,
    status: 'open',
    closedAt: null,
    revision: 0,
    writtenAt: createdAt.toISOString(),
  },
  ...{ createdBy: actor.tokenId, createdByName: actor.name },
  counts: { create: 0, update: 0, delete: 0 },
  approvals: { needed: (settings as Base['settings']).change_sets?.approvals ?? 0, given: 0 },
})

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const newName = () => `p-${Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
