/** Copies the configuration of a base in a few statements for each kind. */
import { snakeFields } from '../../contract/field-names.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS } from '../configuration/kinds.ts'
import { definitionOf } from '../configuration/lifecycle/definition.ts'
import { fieldsOf, stateOf } from '../configuration/lifecycle/fields.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { stepsOf } from '../configuration/lifecycle/read-in-steps.ts'
import { newSecrets } from '../configuration/lifecycle/secrets.ts'
import { authorship, type Scope } from '../core/scope.ts'
import { authorAt, logResources } from '../log/log-rows.ts'
import { statement } from '../storage/database/client.ts'

// Safe to interpolate: names of kinds are constants. The columns in `$2`, and those of the id in `$3`, replace
// those of the row.
const copyRows = ({ name }: Kind) =>
  statement(
    `copy_${name}`,
    `INSERT INTO plinth.${name} SELECT copy.* FROM plinth.${name} t
     CROSS JOIN LATERAL jsonb_populate_record(t, $2::jsonb || coalesce($3::jsonb -> t.id, '{}')) AS copy WHERE t.base_id = $1`,
  )

const KEEP = statement(
  'keep_fork',
  `INSERT INTO plinth.fork (base_id, kind, id, definition)
   SELECT $1, $2, f.id, f.definition::json FROM unnest($3::text[], $4::text[]) AS f (id, definition)`,
)
const LOG = statement(
  'log_copies',
  logResources({
    ...{ kind: '$2', id: 'e.id', operation: "'create'", version: '$10', data: 'e.data', author: authorAt(5) },
    from: 'unnest($3::text[], $4::jsonb[]) AS e (id, data)',
  }),
)

/** Copies all rows of configuration to another base, each with its first version there. */
export async function copyRowsOf(scope: Scope, from: string, to: string, version: number): Promise<void> {
  const now = new Date().toISOString()
  for (const kind of KINDS) {
    const columns = { base_id: to, version, created_at: now, updated_at: now, ...kind.copiedColumns?.() }
    const secrets = JSON.stringify(await secretsOfCopies(kind, scope, from, to))
    await scope.db.query(copyRows(kind), [from, JSON.stringify(columns), secrets])
  }
}

/** New secrets of each copy, by id and column: a secret does not leave its base. */
async function secretsOfCopies(kind: Kind, scope: Scope, from: string, to: string): Promise<object> {
  const copies: [id: string, columns: object][] = []
  if (kind.secrets)
    for await (const rows of stepsOf(kind, scope, from))
      for (const { id } of rows) copies.push([id, snakeFields(newSecrets(scope, { kind, baseId: to, id }))])
  return Object.fromEntries(copies)
}

/** Logs the copied configuration, and keeps it as the point that later changes are measured from. */
export async function keepFork(scope: Scope, to: string, version: number): Promise<void> {
  const author = authorship(scope)
  for (const kind of KINDS)
    for await (const rows of stepsOf(kind, scope, to)) {
      const ids: string[] = []
      const states: string[] = []
      const definitions: string[] = []
      for (const row of rows) {
        if (turnIsOver()) await nextTurn()
        ids.push(row.id)
        states.push(JSON.stringify(stateOf(kind, row)))
        definitions.push(JSON.stringify(definitionOf(kind, fieldsOf(kind, row))))
      }
      await scope.db.query(LOG, [to, kind.name, ids, states, ...author, version])
      await scope.db.query(KEEP, [to, kind.name, ids, definitions])
    }
}
