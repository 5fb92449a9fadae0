import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../errors.ts'
import { demand, demandSight } from '../access.ts'
import { baseNotFound } from '../bases.ts'
import { announce } from '../caches.ts'
import { appendChange } from '../changes.ts'
import { statement } from '../db.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import { type Page, type PageArgs, readPage, toPage } from '../page.ts'
import type { Prisma, RecordType as TypeRow } from '../prisma/client.ts'
import type { Scope } from '../scope.ts'
import { findType } from '../types-cache.ts'
import type { WriteScope } from '../write.ts'
import { type RecordTypeInput, readInput } from './input.ts'
import { type OnInvalid, readMigration } from './migration.ts'
import { choosePortableId } from './portable-id.ts'
import { type Repair, reconcile } from './reconcile.ts'

export type { RecordTypeInput } from './input.ts'
export type RecordType = {
  baseId: string
  id: string
  /** The id as it stands in tool names; given at creation, unique in the base. */
  portableId: string
  name: string
  description: string | null
  icon: string | null
  color: string | null
  jsonSchema: object
  timezone: string
  display: object
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

const toRecordType = (row: TypeRow): RecordType => ({
  baseId: row.baseId,
  id: row.id,
  portableId: row.portableId,
  name: row.name,
  description: row.description,
  icon: row.icon,
  color: row.color,
  jsonSchema: row.jsonSchema as object,
  timezone: row.timezone,
  display: row.display as object,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The record types of the base that the token may read, newest first. */
export async function listRecordTypes(
  scope: Scope,
  baseId: string,
  args: PageArgs,
): Promise<Page<RecordType>> {
  demandSight(scope.access, baseId)
  const page = readPage(args)
  const types = scope.access.types('read', baseId)
  const where: Prisma.RecordTypeWhereInput = { baseId, ...(types !== '*' && { id: { in: [...types] } }) }
  const [rows, total] = await Promise.all([
    scope.db.orm.recordType.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: page.limit + 1,
      skip: page.offset,
    }),
    page.includeTotal ? scope.db.orm.recordType.count({ where }) : null,
  ])
  if (rows.length === 0) await demandBase(scope, baseId)
  return toPage(rows.map(toRecordType), page, total)
}

/** @throws FORBIDDEN outside the grants, NOT_FOUND when base or type is absent. */
export async function getRecordType(scope: Scope, baseId: string, id: string): Promise<RecordType> {
  demand(scope.access, 'read', baseId, id)
  const row = await scope.db.orm.recordType.findUnique({ where: { baseId_id: { baseId, id } } })
  if (!row) throw await typeOrBaseNotFound(scope, baseId, id)
  return toRecordType(row)
}

const TYPES_VERSION = statement('types_version', 'SELECT types_version FROM plinth.base WHERE id = $1')

/** A number that moves whenever a type of the base does. */
export async function typesVersion(scope: Scope, baseId: string): Promise<number> {
  demandSight(scope.access, baseId)
  const [row] = await scope.db.query<{ types_version: number }>(TYPES_VERSION, [baseId])
  if (!row) throw baseNotFound(baseId)
  return row.types_version
}

export type PutOptions = { expected: Expectation; onInvalid: OnInvalid; migration: unknown }

/** Creates the type or replaces it whole. */
export const putRecordType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RecordTypeInput,
  options: PutOptions,
) => change(scope, baseId, id, options, () => readInput(id, input))

/** Changes the fields that are named; each is replaced whole. */
export const patchRecordType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RecordTypeInput,
  options: PutOptions,
) =>
  change(scope, baseId, id, options, (held) => {
    if (!held) throw typeNotFound(id)
    return readInput(id, { ...fieldsOf(held), ...named(input) })
  })

type Fields = ReturnType<typeof readInput>

async function change(
  scope: WriteScope,
  baseId: string,
  id: string,
  options: PutOptions,
  next: (held: TypeRow | null) => Fields,
): Promise<RecordType> {
  demand(scope.access, 'manage', baseId, id)
  const repair = { onInvalid: options.onInvalid, steps: readMigration(options) }
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const held = await tx.orm.recordType.findUnique({ where: { baseId_id: { baseId, id } } })
    const fields = next(held)
    checkVersion(options.expected, held?.version, `record type "${id}"`)
    if (held && (repair.steps.length > 0 || !isDeepStrictEqual(fields.jsonSchema, held.jsonSchema)))
      await holdTo(within, baseId, id, fields.jsonSchema, repair)
    if (held && isDeepStrictEqual(fields, fieldsOf(held)))
      return { ...toRecordType(held), operation: 'unchanged' }
    const row = held ? await update(within, held, fields) : await create(within, baseId, id, fields)
    await finish(within, row, held ? 'update' : 'create')
    return { ...toRecordType(row), operation: held ? 'updated' : 'created' }
  })
}

async function create(scope: Scope, baseId: string, id: string, fields: Fields): Promise<TypeRow> {
  const isTaken = async (portableId: string) =>
    (await scope.db.orm.recordType.count({ where: { baseId, portableId } })) > 0
  return scope.db.orm.recordType.create({
    data: { baseId, id, portableId: await choosePortableId(id, isTaken), ...fields },
  })
}

/** Holds the records that exist to the schema, with no write between them and its change. */
async function holdTo(scope: WriteScope, baseId: string, id: string, jsonSchema: object, repair: Repair) {
  await scope.db.query(LOCK_TYPE, [baseId, id])
  await reconcile(scope, baseId, id, jsonSchema, repair)
}

const update = (scope: WriteScope, { baseId, id }: TypeRow, fields: Fields): Promise<TypeRow> =>
  scope.db.orm.recordType.update({
    where: { baseId_id: { baseId, id } },
    data: { ...fields, version: { increment: 1 }, updatedAt: new Date() },
  })

// Waits for the writes in flight on the type, which hold KEY SHARE on its row, and holds off new ones.
const LOCK_TYPE = statement(
  'lock_type',
  'SELECT 1 AS one FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR UPDATE',
)
const LOCK_BASE = statement(
  'lock_base',
  'SELECT environment, settings FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)
const BUMP_TYPES = statement(
  'bump_types',
  'UPDATE plinth.base SET types_version = types_version + 1 WHERE id = $1',
)
const HOLDS_RECORDS = statement(
  'type_holds_records',
  'SELECT 1 AS one FROM plinth.record WHERE base_id = $1 AND record_type = $2 LIMIT 1',
)
// Each record's deletion is told before the type's.
const DELETE_RECORDS = statement(
  'delete_type_records',
  `WITH gone AS (DELETE FROM plinth.record WHERE base_id = $1 AND record_type = $2 RETURNING *)
   INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, external_source, external_id,
     cancelled_at, token_id, actor_name, via, request_id)
   SELECT base_id, 'record', record_type, id, 'delete', version + 1, data, external_source, external_id,
     cancelled_at, $3, $4, $5, $6 FROM gone`,
)

/** Configuration changes of one base queue up behind each other. @throws NOT_FOUND, or FORBIDDEN on a guarded base. */
async function lockConfiguration(scope: WriteScope, baseId: string): Promise<void> {
  const [base] = await scope.db.query<{ environment: string; settings: { schema_changes: string } }>(
    LOCK_BASE,
    [baseId],
  )
  if (!base) throw baseNotFound(baseId)
  if (base.environment === 'production' && base.settings.schema_changes === 'preview_only')
    throw new DomainError(
      'FORBIDDEN',
      `Base "${baseId}" takes configuration only by promotion from a preview.`,
      {
        details: [
          { path: '', code: 'preview_only', message: 'Make the change in a preview and promote it.' },
        ],
      },
    )
}

/** Deletes the type. One with records wants `confirm` equal to its id; they are deleted first, each with its entry. */
export async function deleteRecordType(
  scope: WriteScope,
  baseId: string,
  id: string,
  confirm: string | null,
  expected: Expectation,
) {
  demand(scope.access, 'manage', baseId, id)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const held = await tx.orm.recordType.findUnique({ where: { baseId_id: { baseId, id } } })
    if (!held) throw typeNotFound(id)
    checkVersion(expected, held.version, `record type "${id}"`)
    await tx.query(LOCK_TYPE, [baseId, id])
    if (confirm !== id && (await tx.query(HOLDS_RECORDS, [baseId, id])).length > 0) throw confirmFirst(id)
    const { actor, via, requestId } = scope
    await tx.query(DELETE_RECORDS, [baseId, id, actor.tokenId, actor.name, via, requestId])
    await tx.orm.recordType.delete({ where: { baseId_id: { baseId, id } } })
    await finish(within, { ...held, version: held.version + 1 }, 'delete')
    return { id, deleted: true }
  })
}

async function finish(
  scope: WriteScope,
  row: TypeRow,
  operation: 'create' | 'update' | 'delete',
): Promise<void> {
  const { baseId, id, version } = row
  await scope.db.query(BUMP_TYPES, [baseId])
  await appendChange(scope, { baseId, kind: 'record_type', id, operation, version, state: toRecordType(row) })
  await announce(scope.db, `type:${baseId}/${id}`)
  scope.onCommit(() => scope.caches.forget(`type:${baseId}/${id}`))
}

function fieldsOf(row: TypeRow): Fields {
  const { name, description, icon, color, jsonSchema, timezone, display } = row
  return {
    name,
    description,
    icon,
    color,
    jsonSchema: jsonSchema as object,
    timezone,
    display: display as object,
  }
}

/** The fields that are given at all; null is given. */
const named = (input: RecordTypeInput): RecordTypeInput =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))

async function demandBase(scope: Scope, baseId: string): Promise<void> {
  if ((await scope.db.query(TYPES_VERSION, [baseId])).length === 0) throw baseNotFound(baseId)
}

/** The 404 for a type that was not found: of its base, when that is what is missing. */
export async function typeOrBaseNotFound(scope: Scope, baseId: string, id: string): Promise<DomainError> {
  const [base] = await scope.db.query(TYPES_VERSION, [baseId])
  return base ? typeNotFound(id) : baseNotFound(baseId)
}

/** @throws NOT_FOUND when base or type is absent. */
export async function demandType(scope: Scope, baseId: string, id: string) {
  const type = await findType(scope, baseId, id)
  if (!type) throw await typeOrBaseNotFound(scope, baseId, id)
  return type
}

const typeNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no record type "${id}".`, {
    details: [
      {
        path: '/record_type',
        code: 'record_type_not_found',
        message: 'List the record types of the base, or PUT this one first.',
      },
    ],
  })

const confirmFirst = (id: string) =>
  new DomainError(
    'CONFLICT',
    `Record type "${id}" has records. Send confirm=${id} to delete it with all of them.`,
    {
      details: [
        {
          path: '/confirm',
          code: 'confirm_required',
          message: "Repeat the type's id in confirm.",
          expected: id,
          hint: `confirm=${id}`,
        },
      ],
    },
  )
