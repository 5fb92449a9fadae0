/** Reverts one change of a record, a relationship or configuration. */
import { advised } from '../../foundation/advised-requests.ts'
import { type Detail, DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { KINDS } from '../configuration/kinds.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { type Change, mayRead, setCause } from '../log/entry.ts'
import { readEntry } from '../log/read.ts'
import { requireBaseAccess } from '../storage/access/access.ts'
import { type Db, type Statement, statement } from '../storage/database/client.ts'
import { type RevertOptions, revertConfiguration } from './revert-configuration.ts'
import { revertFile } from './revert-file.ts'
import { revertRecord } from './revert-record.ts'
import { revertRelationship } from './revert-relationship.ts'

/** The last entry of a resource. */
const LAST_OF_RECORD = statement(
  'last_of_record',
  `SELECT seq::float8 AS seq FROM plinth.change
   WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 ORDER BY version DESC LIMIT 1`,
)
const LAST_OF_LINK = statement(
  'last_of_link',
  `SELECT seq::float8 AS seq FROM plinth.change
   WHERE kind = 'relationship' AND base_id = $1 AND id = $2 ORDER BY version DESC LIMIT 1`,
)
const LAST_OF_CONFIGURATION = statement(
  'last_of_configuration',
  `SELECT seq::float8 AS seq FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = $2 AND id = $3 ORDER BY change.seq DESC LIMIT 1`,
)

/**
 * Reverts a change with a compensating change, and returns the new change. Restores the complete state before
 * the reverted change.
 * @throws FORBIDDEN without write access to the resource; NOT_FOUND for an absent change, or when its
 * previous state is purged; VALIDATION_ERROR for other kinds of changes; CONFLICT when later changes exist,
 * unless forced
 */
export async function revertChange(
  scope: WriteScope,
  baseId: string,
  seq: number,
  { force, ...options }: { force: boolean } & RevertOptions,
): Promise<Change & { secrets?: readonly MadeSecret[] }> {
  requireBaseAccess(scope.access, baseId)
  return scope.db.transaction(async (tx) => {
    const secrets: MadeSecret[] = []
    const within: WriteScope = {
      ...scope,
      db: tx,
      onSecret: (kind, id, secret) => void secrets.push({ kind, id, secret }),
    }
    const change = await findChange(within, baseId, seq)
    await setCause(tx, String(seq))
    let last = 0
    const requireLastChange = async () => {
      last = await lastOf(tx, baseId, change)
      if (last !== seq && !force) throw overtaken(seq, last)
    }
    if (change.kind === 'record') await revertRecord(within, baseId, change, requireLastChange)
    else if (change.kind === 'relationship')
      await revertRelationship(within, baseId, change, requireLastChange)
    else if (change.kind === 'file') await revertFile(within, baseId, change, requireLastChange)
    else {
      const kind = KINDS.find(({ name }) => name === change.kind)
      if (!kind) throw notRevertible(change)
      await revertConfiguration(within, kind, baseId, change, requireLastChange, options)
    }
    const written = await lastOf(tx, baseId, change)
    const inverse = await readEntry(tx, baseId, written)
    if (!inverse || written === last) throw nothingToRevert(seq)
    return secrets.length === 0 ? inverse : { ...inverse, secrets }
  })
}

/** A secret that a revert made for a resource that it brought back. */
export type MadeSecret = { readonly kind: string; readonly id: string; readonly secret: string }

/** Finds the change. A change that the token may not see is NOT_FOUND. */
export async function findChange(scope: Scope, baseId: string, seq: number): Promise<Change> {
  const isSeq = Number.isSafeInteger(seq) && seq >= 1
  const change = isSeq ? await readEntry(scope.db, baseId, seq) : undefined
  if (change && mayRead(scope.access, baseId, change)) return change
  await requireBase(scope, baseId)
  throw oneFault('NOT_FOUND', `There is no change ${seq} in base "${baseId}".`, {
    path: '/seq',
    code: 'change_not_found',
    message: `${advised('list_changes')} lists the changes that are kept.`,
  })
}

async function lastOf(tx: Db, baseId: string, { kind, recordType, id }: Change): Promise<number> {
  const of = (last: Statement, ...values: unknown[]) => tx.query<{ seq: number }>(last, [baseId, ...values])
  const [last] =
    kind === 'record'
      ? await of(LAST_OF_RECORD, recordType, id)
      : kind === 'relationship'
        ? await of(LAST_OF_LINK, id)
        : await of(LAST_OF_CONFIGURATION, kind, id)
  return last?.seq ?? 0
}

const conflict = (message: string, detail: Detail) =>
  new DomainError('CONFLICT', message, { details: [detail] })

const overtaken = (seq: number, last: number) =>
  conflict(`Change ${seq} has been followed by later changes to the same resource.`, {
    path: '/seq',
    code: 'overtaken',
    message: `Change ${last} came after it. Revert that first, or send force=true to revert the later changes too.`,
    expected: last,
    received: seq,
  })

const nothingToRevert = (seq: number) =>
  conflict(`The resource already has the state from before change ${seq}.`, {
    path: '/seq',
    code: 'nothing_to_revert',
    message: 'There is nothing to revert.',
    received: seq,
  })

/** What to do instead of a revert. */
const INSTEAD: Readonly<Record<string, string>> = {
  promotion: 'Roll the promotion back by its id.',
  attachment: 'Attach the file again.',
}

/** Says that changes of a kind cannot be reverted, and what to do instead. */
export const cannotRevert = (kind: string): string =>
  `A change of kind "${kind}" cannot be reverted. ${INSTEAD[kind] ?? 'Send the former state with a PUT.'}`

const notRevertible = ({ kind }: Change) =>
  invalid({
    path: '/seq',
    code: 'not_revertible',
    message: cannotRevert(kind),
    received: kind,
    allowed: ['record', 'relationship', 'file', ...KINDS.map(({ name }) => name)],
  })
