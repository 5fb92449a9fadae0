/** The scope of a request in a change-set: production's configuration, and its records with the drafts over them. */
import { productionOf } from '../../../contract/ids.ts'
import { type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { openRequestBatching } from '../../data/ledger/request-batching.ts'
import { type Access, wholeGrants } from '../../storage/access/access.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'
import { compiledCache } from '../compiled-cache.ts'
import { requireExistingBase } from '../existing-base.ts'
import type { Scope } from '../scope.ts'
import type { Opening } from './opening.ts'
import { overlaidDb, overlaidSnapshots } from './overlaid-db.ts'

const FIND = statement(
  'find_change_set',
  `SELECT c.base_id IS NOT NULL AS is_one FROM plinth.base b LEFT JOIN plinth.change_set c ON c.base_id = b.id WHERE b.id = $1`,
)

/** Whether a preview is a change-set. It is one from its creation to its end. */
const cache = compiledCache<{ isOne: boolean }>({
  max: 10_000,
  per: 'base',
  from: [],
  load: async (scope, id) => {
    const [found] = await scope.db.query<{ is_one: boolean }>(FIND, [id])
    return found && { isOne: found.is_one }
  },
})

/** Whether the id is that of a change-set. */
export const isChangeSet = async (scope: Scope, id: string): Promise<boolean> =>
  productionOf(id) !== id && ((await cache.get(scope, id))?.isOne ?? false)

/**
 * Requires that a base is there, and is a change-set.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR for another base
 */
export async function requireChangeSet(scope: Scope, id: string): Promise<void> {
  await requireExistingBase(scope, id)
  if (await isChangeSet(scope, id)) return
  throw invalid({
    path: '/base_id',
    code: 'not_a_change_set',
    message: `"${id}" is no change-set: what it holds is its own.`,
    received: id,
  })
}

const LAST_POSITION = statement(
  'last_draft_position',
  'SELECT coalesce(max(position), 0)::float8 AS seq FROM plinth.draft_change WHERE branch = $1',
)

/** The settled end of the log that the scope reads. A change-set has one writer at a time, whose entries follow those before. */
export async function settledSeq({ db, feed, changeSet, freshness }: Scope): Promise<number> {
  if (changeSet === undefined) {
    const seq = await feed.settledSeq()
    // Who has seen a change in the log finds it in lists.
    freshness?.note()
    return seq
  }
  const [last] = await db.query<{ seq: number }>(LAST_POSITION, [changeSet])
  return last?.seq ?? 0
}

const bound = new WeakMap<Access, Map<string, Access>>()

/**
 * Binds a scope to a change-set: what runs in it for the production base reads the overlay, and writes drafts. It has no
 * rights on configuration. `ofLog`: what it reads of the log is the difference of the change-set. `opening`: the first write opens it.
 * @throws FORBIDDEN without a grant on the change-set, and `read` on production
 */
export async function inChangeSet(
  scope: Scope,
  id: string,
  { ofLog, opening }: { ofLog?: boolean; opening?: Opening } = {},
): Promise<Scope> {
  if (!opening) await requireExistingBase(ofToken(scope), id)
  const { proposal } = scope
  const db = overlaidDb(scope.db, id, ofLog, opening)
  return {
    ...scope,
    db,
    snapshots: overlaidSnapshots(scope.snapshots, id),
    access: proposal?.access ?? accessInChangeSet(scope.access, id),
    ...(proposal && { policy: proposal.policy }),
    batching: openRequestBatching(db, db),
    changeSet: id,
    ...(opening && { opening }),
  }
}

/** The scope with the rights of the token, where an endpoint bounds what it may propose. */
export const ofToken = (scope: Scope): Scope =>
  scope.proposal ? { ...scope, access: scope.access.whole ?? scope.access } : scope

/** Whether the token writes to this production base by proposals. */
export function proposesTo({ access, proposal }: Scope, baseId: string): boolean {
  if (proposal?.baseId === baseId) return true
  const types = access.proposed(baseId)
  return types === '*' || types.size > 0
}

/** The change-set that the scope shows; undefined while no write has opened it. */
export const openChangeSetOf = ({ changeSet, opening }: Scope): string | undefined =>
  opening?.isOpen === false ? undefined : changeSet

/** The rights on the records of production that a change-set shows: those on its own, where production may be read too. */
export function accessInChangeSet(access: Access, id: string): Access {
  const known = bound.get(access)?.get(id)
  if (known) return known
  const base = productionOf(id)
  const readable = access.types('read', base)
  const grants = (['read', 'write'] as const).flatMap((permission): Grant[] => {
    const own = access.types(permission, id)
    const types =
      own === '*' ? readable : readable === '*' ? own : [...own].filter((type) => readable.has(type))
    const named = types === '*' ? '*' : [...types]
    return named.length === 0 ? [] : [{ base, record_type: named, environment: 'production', permission }]
  })
  const made: Access = { ...compileAccess(grants, access.paused), issued: wholeGrants(access) }
  if (!made.sees(base))
    throw oneFault('FORBIDDEN', `A change-set shows records of "${base}", which the token may not read.`, {
      path: '',
      code: 'missing_permission',
      message: `Use a token with "read" on "${base}" and on its previews.`,
      expected: { base, record_type: '*', permission: 'read' },
    })
  bound.set(access, (bound.get(access) ?? new Map<string, Access>()).set(id, made))
  return made
}

/**
 * Refuses to read the past in a change-set, which has none.
 * @throws VALIDATION_ERROR
 */
export function refusePast({ changeSet }: Scope, path: string): void {
  if (changeSet === undefined) return
  throw invalid({
    path,
    code: 'not_in_change_sets',
    message: `A change-set has no past. Ask "${productionOf(changeSet)}" for that of production.`,
    received: changeSet,
  })
}

/** The error for what a change-set does not have. */
export const notInChangeSets = (what: string, id: string): DomainError =>
  oneFault('FORBIDDEN', `${what} is not part of change-sets, which have records and relationships.`, {
    path: '/base_id',
    code: 'not_in_change_sets',
    message: `Send it to "${productionOf(id)}", or to a preview that copies the configuration.`,
    received: id,
  })
