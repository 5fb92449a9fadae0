import { mapInTurns } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Kind } from '../log/entry.ts'
import { authorAt, logResources } from '../log/log-rows.ts'
import { statement } from '../storage/database/client.ts'
import { authorship, type Scope } from './scope.ts'

type Operation = 'create' | 'update' | 'cancel' | 'delete' | 'restore'
/** Kinds of resources other than records. The change log stores their complete state. */
export type ResourceKind = Exclude<Kind, 'record' | 'relationship'>

const APPEND = statement(
  'append_changes',
  logResources({
    ...{ base: 'e.base_id', kind: 'e.kind', id: 'e.id', operation: 'e.operation', version: 'e.version' },
    ...{ data: 'e.data::jsonb', author: authorAt(7) },
    from: `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[])
       WITH ORDINALITY AS e (base_id, kind, id, operation, version, data, n)
     ORDER BY e.n`,
  }),
)

/** Base id of account-level entries, which belong to no base. */
export const ACCOUNT = ''

export type LogEntry = {
  readonly baseId: string
  readonly kind: ResourceKind
  readonly id: string
  readonly operation: Operation
  readonly version: number
  readonly state: object
}

/** Appends entries to the change log, in the transaction of the write. */
export async function appendChanges(scope: Scope, entries: readonly LogEntry[]): Promise<void> {
  const author = authorship(scope)
  const texts = await mapInTurns(entries, ({ state }) => JSON.stringify(state))
  for (const { from, to } of partsOf(texts)) {
    const part = entries.slice(from, to)
    await scope.db.query(APPEND, [
      part.map(({ baseId }) => baseId),
      part.map(({ kind }) => kind),
      part.map(({ id }) => id),
      part.map(({ operation }) => operation),
      part.map(({ version }) => version),
      texts.slice(from, to),
      ...author,
    ])
  }
}

/** Appends one entry. */
export const appendChange = (scope: Scope, entry: LogEntry): Promise<void> => appendChanges(scope, [entry])

/** Divides texts into parts of a statement each, so that none is larger than a backend can take. */
export function* partsOf(
  texts: readonly { readonly length: number }[],
): Generator<{ from: number; to: number }> {
  let [from, chars] = [0, 0]
  for (const [n, { length }] of texts.entries()) {
    if (n > from && chars + length > LIMITS.statementChars) {
      yield { from, to: n }
      ;[from, chars] = [n, 0]
    }
    chars += length
  }
  if (texts.length > from) yield { from, to: texts.length }
}
