/** Rotation of the master key: the data keys of all secrets, encrypted again under the current one. */
import { LIMITS } from '../../../foundation/limits.ts'
import { requireAllAdmin } from '../../core/authentication/may-manage.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'
import { keepKeyId, otherMasterKey } from '../../storage/vault/vault.ts'

export type Rotation = {
  /** The id of the current master key, which all secrets are encrypted under now. */
  readonly keyId: string
  /** Secrets that were under another master key before. */
  readonly rewrapped: number
  /** Secrets under a master key that this server does not have. They stay as they are. */
  readonly unreadable: number
}

type Place = {
  readonly table: string
  readonly column: string
  readonly read: Statement
  readonly write: Statement
}

// Names of tables and columns are constants.
const place = (table: string, column: string, isOfBase: boolean): Place => ({
  table,
  column,
  read: statement(
    `read_${table}_${column}`,
    `SELECT ${isOfBase ? 'base_id' : "''::text"} AS base_id, id, ${column} AS sealed FROM plinth.${table}
     WHERE (${isOfBase ? 'base_id' : "''::text"}, id) > ($1, $2) AND ${column} IS NOT NULL AND NOT starts_with(${column}, $3)
     ORDER BY ${isOfBase ? 'base_id, ' : ''}id LIMIT $4`,
  ),
  // One that another request has changed meanwhile is under the current key already.
  write: statement(
    `rewrap_${table}_${column}`,
    `UPDATE plinth.${table} t SET ${column} = n.sealed
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (base_id, id, was, sealed)
     WHERE ${isOfBase ? 't.base_id = n.base_id AND ' : ''}t.id = n.id AND t.${column} = n.was RETURNING 1 AS one`,
  ),
})

/** All columns with secrets. */
const PLACES: readonly Place[] = [
  place('secret', 'value', false),
  place('trigger', 'secret', true),
  place('trigger', 'former_secret', true),
  place('inbound_webhook', 'secret', true),
  place('inbound_webhook', 'former_secret', true),
]

/**
 * Encrypts the data keys of all secrets under the current master key, some at a time. Each step is atomic and leaves
 * every secret readable; after an interruption, another rotation does the rest.
 * @throws FORBIDDEN; INTERNAL_ERROR if this server does not have the master key of the database
 */
export async function rotateMasterKey(scope: WriteScope): Promise<Rotation> {
  requireAllAdmin(scope, 'The rotation of the master key')
  const { vault, db } = scope
  if (!vault.isUsable) throw otherMasterKey()
  let [rewrapped, unreadable] = [0, 0]
  for (const each of PLACES) {
    for (let after: readonly [string, string] | null = ['', '']; after; ) {
      const step: Step = await rewrapStep(scope, each, after)
      rewrapped += step.rewrapped
      unreadable += step.unreadable
      after = step.after
    }
  }
  await keepKeyId(db, vault)
  return { keyId: vault.keyId, rewrapped, unreadable }
}

type Row = { readonly base_id: string; readonly id: string; readonly sealed: string }
type Step = { rewrapped: number; unreadable: number; after: readonly [string, string] | null }

async function rewrapStep(
  { db, vault }: { readonly db: Db; readonly vault: WriteScope['vault'] },
  { read, write }: Place,
  after: readonly [string, string],
): Promise<Step> {
  const rows = await db.query<Row>(read, [...after, vault.currentPrefix, LIMITS.rewrappedRows])
  const opened = rows.flatMap((row) => {
    const sealed = vault.rewrap(row.sealed)
    return sealed === undefined ? [] : [{ ...row, next: sealed }]
  })
  const done = await db.query(write, [
    opened.map(({ base_id }) => base_id),
    opened.map(({ id }) => id),
    opened.map(({ sealed }) => sealed),
    opened.map(({ next }) => next),
  ])
  const last = rows.length === LIMITS.rewrappedRows ? rows.at(-1) : undefined
  return {
    rewrapped: done.length,
    unreadable: rows.length - opened.length,
    after: last ? [last.base_id, last.id] : null,
  }
}

/** Counts secrets under master keys that this process does not have, up to a limit. */
const COUNT_UNREADABLE = statement(
  'count_unreadable_secrets',
  `SELECT count(*)::int AS count FROM (${PLACES.map(
    ({ table, column }) => `(SELECT FROM plinth.${table} WHERE NOT ${column} ^@ ANY ($1::text[]) LIMIT $2)`,
  ).join(' UNION ALL ')}) s`,
)

export async function countUnreadable({ db, vault }: Pick<WriteScope, 'db' | 'vault'>): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT_UNREADABLE, [vault.prefixes, LIMITS.rewrappedRows])
  return row?.count ?? 0
}
