import type { Kind } from '../change-log/entry.ts'
import { AUTHOR_COLUMNS } from '../change-log/entry.ts'
import { statement } from '../database/client.ts'
import { authorship, type Scope } from './scope.ts'

type Operation = 'create' | 'update' | 'cancel' | 'delete' | 'restore'
/** Kinds of resources other than records. The change log stores their complete state. */
export type ResourceKind = Exclude<Kind, 'record' | 'relationship'>

const APPEND = statement(
  'append_change',
  `INSERT INTO plinth.change (base_id, kind, id, operation, version, data, ${AUTHOR_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10, $11::jsonb)`,
)

/** Base id of account-level entries, which belong to no base. */
export const ACCOUNT = ''

type Entry = {
  baseId: string
  kind: ResourceKind
  id: string
  operation: Operation
  version: number
  state: object
}

/** Appends one entry to the change log, in the transaction of the write. */
export async function appendChange(scope: Scope, entry: Entry): Promise<void> {
  const { baseId, kind, id, operation, version, state } = entry
  await scope.db.query(APPEND, [
    baseId,
    kind,
    id,
    operation,
    version,
    JSON.stringify(state),
    ...authorship(scope),
  ])
}
