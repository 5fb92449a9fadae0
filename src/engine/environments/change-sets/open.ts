/** Opens change-sets: previews that copy nothing. */
import { randomInt } from 'node:crypto'
import { anyPreviewOf, productionOf } from '../../../contract/ids.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { BASE, type Base, baseLock, toRow } from '../../configuration/bases/index.ts'
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
import { lostRace } from '../../storage/database/retry-races.ts'
import { exists, previewOfPreview, tooMany } from '../preview-place.ts'
import { keepPace } from './pace.ts'

// How many the base `$1` has open, and how many of them the token, by their ids: `<base>--<name>`, and "." follows "-". A join was planned
// as if it had few.
const openNow = (
  token: string,
) => `(SELECT count(*)::int AS open, count(*) FILTER (WHERE c.token_id = ${token})::int AS own
        FROM plinth.change_set c WHERE c.base_id >= $1 || '--' AND c.base_id < $1 || '-.' AND c.closed_at IS NULL)`
const ROOM = `hashtextextended('change_sets:' || $1, 0)`
const roomOf = (token: string) => `hashtextextended('change_sets:' || $1 || ':' || ${token}, 0)`

// Openers do not wait for each other, but near a limit: there is room for all who may have counted at the same moment.
const CROWDED = { open: LIMITS.changeSets - 100, own: LIMITS.changeSetsOfToken - 50 }

const lockRoom = (count: keyof typeof CROWDED, room: string) =>
  `CASE WHEN o.${count} < ${CROWDED[count]} THEN pg_advisory_xact_lock_shared(${room})::text ELSE pg_advisory_xact_lock(${room})::text END`

/** Locks the place of a change-set. Of its base only against changes and deletion: others open theirs meanwhile. */
const LOCK_PLACE = statement(
  'lock_place_of_change_set',
  `SELECT pg_advisory_xact_lock_shared(${baseLock('$1')})::text, pg_advisory_xact_lock(${baseLock('$2')})::text,
     ${lockRoom('open', ROOM)}, ${lockRoom('own', roomOf('$3'))},
     CASE WHEN o.open < ${CROWDED.open} THEN ${CROWDED.open} ELSE ${LIMITS.changeSets} END AS open,
     CASE WHEN o.own < ${CROWDED.own} THEN ${CROWDED.own} ELSE ${LIMITS.changeSetsOfToken} END AS own
   FROM ${openNow('$3')} o`,
)
const LOCK_ROOM = statement(
  'lock_room_of_change_sets',
  `SELECT pg_advisory_xact_lock(${ROOM})::text, pg_advisory_xact_lock(${roomOf('$2')})::text`,
)
const COUNT_OPEN = statement('count_open_change_sets', `SELECT * FROM ${openNow('$2')} o`)

// The opening is the first step. It counts again: a statement sees what was committed before it began.
const OPEN = statement(
  'open_change_set',
  `WITH place AS (
     SELECT p.id, p.settings, EXISTS (SELECT FROM plinth.base WHERE id = $2) AS is_taken,
       o.open >= $8 AS is_full, o.own >= $9 AS has_many,
       1 + ${lastVersionOf('$2', "'base'", '$2', 'ARRAY[$2, $1]')} AS version
     FROM plinth.base p CROSS JOIN ${openNow('$6')} o WHERE p.id = $1),
   made AS (
     INSERT INTO plinth.base (id, name, description, environment, production_base, settings, types_version, version, first_version)
     SELECT $2, $3, $4, 'preview', id, settings, 1, version, version FROM place WHERE NOT (is_taken OR is_full OR has_many)
     RETURNING id, version, created_at, updated_at),
   opened AS (INSERT INTO plinth.change_set (base_id, title, token_id, actor_name, steps, writers)
     SELECT id, $5, $6, $7, 1, array_remove(ARRAY[plinth.own_token($6)], NULL) FROM made)
   SELECT place.settings, place.is_taken, place.is_full, place.has_many, place.version, made.created_at, made.updated_at FROM place LEFT JOIN made ON true`,
)
type Opened = {
  settings: Base['settings']
  is_taken: boolean
  is_full: boolean
  has_many: boolean
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
    const row = await insert(within, place, named, await lock(within, place))
    await log(within, row, named, 0)
    await keepPace(within, baseId, 1)
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
      const most = await lock(withinOf(db), place)
      if ((await db.query(IS_THERE, [id])).length > 0) return undefined
      const row = await insert(withinOf(db), place, UNNAMED, most)
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

const isCrowded = () => lostRace('others opened theirs')

/** How many change-sets are open, or may be: in the base, and of the token. */
type Room = { readonly open: number; readonly own: number }

/** Locks a place; returns how many may be open already under that lock. */
async function lock({ db, actor }: Scope, place: Place): Promise<Room> {
  const [locked] = await db.query<Room>(LOCK_PLACE, [place.baseId, idOf(place), actor.tokenId])
  return locked ?? { open: 0, own: 0 }
}

/**
 * Keeps room for one more open change-set of a base and of who opened it, until the end of the transaction.
 * @throws CONFLICT
 */
export async function keepRoom(tx: Db, baseId: string, tokenId: string | null): Promise<void> {
  await tx.query(LOCK_ROOM, [baseId, tokenId])
  const [found] = await tx.query<Room>(COUNT_OPEN, [baseId, tokenId])
  if (found && found.open >= LIMITS.changeSets) throw tooMany(baseId, LIMITS.changeSets)
  if (found && found.own >= LIMITS.changeSetsOfToken) throw tooManyOfToken(baseId)
}

function tooManyOfToken(baseId: string): DomainError {
  const message = `The token has ${LIMITS.changeSetsOfToken} open change-sets in "${baseId}", which is the limit. Let one be promoted or rejected, or delete one first: ${advised('delete_preview')}.`
  return oneFault('CONFLICT', message, {
    path: '/base_id',
    code: 'too_many_change_sets',
    expected: LIMITS.changeSetsOfToken,
  })
}

type Row = ReturnType<typeof toRow>

async function insert(
  { db, actor }: Scope,
  place: Place,
  { description, title }: Named,
  most: Room,
): Promise<Row> {
  const { baseId, name } = place
  const id = idOf(place)
  const values = [baseId, id, name, description, title ?? null, actor.tokenId, actor.name]
  const [made] = await db.query<Opened>(OPEN, [...values, most.open, most.own])
  if (!made) throw baseNotFound(baseId)
  const { settings, version, created_at: createdAt, updated_at: updatedAt } = made
  if (made.is_taken) throw exists(id)
  if (made.is_full) throw most.open < LIMITS.changeSets ? isCrowded() : tooMany(baseId, LIMITS.changeSets)
  if (made.has_many) throw most.own < LIMITS.changeSetsOfToken ? isCrowded() : tooManyOfToken(baseId)
  if (!createdAt || !updatedAt) throw new Error(`Invariant violated: "${id}" was not opened`)
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
