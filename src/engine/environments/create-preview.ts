/** Creates a preview: a base of its own that starts with the configuration of its production base. */

import { snakeFields } from '../../contract/field-names.ts'
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { PreviewBody } from '../../contract/shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { BASE, type Base, baseTable } from '../configuration/bases/index.ts'
import { KINDS } from '../configuration/kinds.ts'
import { finish } from '../configuration/lifecycle/change.ts'
import { definitionOf } from '../configuration/lifecycle/definition.ts'
import { fieldsOf, stateOf, viewOf } from '../configuration/lifecycle/fields.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { stepsOf } from '../configuration/lifecycle/read-in-steps.ts'
import { newSecrets } from '../configuration/lifecycle/secrets.ts'
import { lastVersions } from '../configuration/lifecycle/version-history.ts'
import { authorship, type Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { copying } from '../data/ledger/bring-back.ts'
import { logLinks } from '../data/ledger/relationship-statements.ts'
import { authorAt, logResources } from '../log/log-rows.ts'
import { requirePermission } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'
import { openChangeSet } from './change-sets/open.ts'
import { paced } from './change-sets/pace.ts'
import { previewOfPreview, settingsOf } from './preview-place.ts'

/**
 * Creates the preview `<base>--<name>`.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT when it exists
 */
export async function createPreview(scope: WriteScope, baseId: string, input: object): Promise<Base> {
  const { name, description = null, title, copy = 'config' } = check(PreviewBody, input, inBody())
  if (copy === 'on_write') {
    const { db } = await paced(scope, baseId, false)
    return openChangeSet({ ...scope, db }, baseId, { name, description, title })
  }
  requirePermission(scope.access, 'read', baseId, '*')
  requirePermission(scope.access, 'manage', anyPreviewOf(productionOf(baseId)), '*')
  if (productionOf(baseId) !== baseId) throw previewOfPreview(baseId)
  if (name === undefined) throw nameless()
  if (title !== undefined) throw untitled(copy)
  const id = `${anyPreviewOf(baseId)}${name}`
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const settings = await settingsOf(tx, baseId, id)
    const version = ((await lastVersions(tx, BASE, id, [id])).get(id) ?? 0) + 1
    const row = await baseTable(tx).createOne({
      data: {
        id,
        name,
        description,
        environment: 'preview',
        productionBase: baseId,
        version,
        settings: { ...settings, schema_changes: 'direct' },
        typesVersion: 1,
      } as never,
    })
    await finish(BASE, within, id, [{ row, operation: 'create' }])
    await copyRowsOf(within, baseId, id, version)
    if (copy === 'config_and_sample') await copySample(within, baseId, id, version)
    for (const kind of KINDS) await kind.copyParts?.(tx, baseId, id)
    await keepFork(within, id, version)
    return viewOf(BASE, row) as Base
  })
}

const nameless = () =>
  invalid({ path: '/name', code: 'required', message: 'Name the preview: the part of its id after "--".' })

const untitled = (copy: string) =>
  invalid({
    path: '/title',
    code: 'exclusive',
    message: `title is of a change-set, and copy is "${copy}". Leave title out, or send copy "on_write".`,
  })

// Copies some records of a base, and the relationships among them, in one statement each.

/** Copies the newest records of each type. If they exceed the bytes, each type gets fewer. */
const COPY_RECORDS = copying(
  'copy_sample_records',
  `newest AS (
     SELECT r.*, sum(r.bytes) OVER (ORDER BY r.n, r.record_type) AS total
     FROM plinth.record_type t CROSS JOIN LATERAL (
       SELECT s.*, pg_column_size(s.data) AS bytes, row_number() OVER (ORDER BY s.created_at DESC, s.id DESC) AS n FROM (
         SELECT * FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = t.id
         ORDER BY r.created_at DESC, r.id DESC LIMIT ${LIMITS.previewSample}) s) r
     WHERE t.base_id = $1),
   copied AS (SELECT * FROM newest WHERE total <= ${LIMITS.previewSampleBytes})`,
)

// Laterals with OFFSET 0 read by index from the copied records, in any plan.
const COPY_LINKS = statement(
  'copy_sample_links',
  `WITH copied AS MATERIALIZED (
     SELECT o.row_no AS was, c.row_no AS is FROM plinth.record c CROSS JOIN LATERAL (
       SELECT r.row_no FROM plinth.record r
       WHERE r.base_id = $1 AND r.record_type = c.record_type AND r.id = c.id OFFSET 0) o
     WHERE c.base_id = $2),
   w AS (
     INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row, target_record_type,
       target_id, target_row, data, external_source, external_id, version, valid, one_target, one_source, created_at, updated_at)
     SELECT $2, l.id, l.rel_type, l.source_record_type, l.source_id, s.is, l.target_record_type,
       l.target_id, t.is, l.data, l.external_source, l.external_id, $8::int, l.valid, l.one_target, l.one_source, l.created_at, l.updated_at
     FROM copied s CROSS JOIN LATERAL (
       SELECT * FROM plinth.relationship r WHERE r.source_row = s.was OFFSET 0) l
     JOIN copied t ON t.was = l.target_row
     RETURNING *),
   logged AS (${logLinks('w', 'create', authorAt(3))})
   SELECT count(*)::int AS copied FROM w`,
)

/** Copies the newest records of each type into a base with the same configuration and no records, each as its `version`. */
async function copySample(scope: Scope, from: string, to: string, version: number): Promise<void> {
  const values = [from, to, ...authorship(scope), version]
  await scope.db.query(COPY_RECORDS, values)
  await scope.db.query(COPY_LINKS, values)
}

// Copies the configuration of a base in a few statements for each kind.

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
async function copyRowsOf(scope: Scope, from: string, to: string, version: number): Promise<void> {
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
async function keepFork(scope: Scope, to: string, version: number): Promise<void> {
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
