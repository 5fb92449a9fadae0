import { isDeepStrictEqual } from 'node:util'
import { demand } from '../access.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import type { RecordType as TypeRow } from '../prisma/client.ts'
import type { Scope } from '../scope.ts'
import type { WriteScope } from '../write.ts'
import { finishChange, lockConfiguration, lockType } from './configuration.ts'
import { type RecordTypeInput, readInput } from './input.ts'
import { type OnInvalid, readMigration } from './migration.ts'
import { choosePortableId } from './portable-id.ts'
import { type Repair, reconcile } from './reconcile.ts'
import { type RecordType, toRecordType, typeNotFound } from './record-type.ts'

type PutOptions = { expected: Expectation; onInvalid: OnInvalid; migration: unknown }

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
    await finishChange(within, row, held ? 'update' : 'create')
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
  await lockType(scope, baseId, id)
  await reconcile(scope, baseId, id, jsonSchema, repair)
}

const update = (scope: WriteScope, { baseId, id }: TypeRow, fields: Fields): Promise<TypeRow> =>
  scope.db.orm.recordType.update({
    where: { baseId_id: { baseId, id } },
    data: { ...fields, version: { increment: 1 }, updatedAt: new Date() },
  })

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
