import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { demand } from '../../access/access.ts'
import type { Scope } from '../../core/scope.ts'
import { declaredIndex, resolvedIndex, syncIndexes } from '../../indexes/index.ts'
import { checkVersion, type Expectation } from '../../write/preconditions.ts'
import type { WriteScope } from '../../write/write.ts'
import { lockConfiguration } from '../lifecycle/lock.ts'
import { type RecordTypeInput, readInput } from './input.ts'
import { lockType } from './lock.ts'
import { finishChange } from './log-change.ts'
import { type OnInvalid, readMigration } from './migration.ts'
import { choosePortableId } from './portable-id.ts'
import { type RecordType, type TypeRow, toRecordType, typeNotFound, WITH_INDEXES } from './record-type.ts'
import { type Repair, reconcile } from './validate-existing.ts'

type PutOptions = { expected: Expectation; onInvalid: OnInvalid; migration: unknown }

/** Creates the type or replaces it whole. */
export const putRecordType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RecordTypeInput,
  options: PutOptions,
) => change(scope, baseId, id, input, options, () => readInput(id, input))

/** Changes the fields that are named; each is replaced whole. */
export const patchRecordType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RecordTypeInput,
  options: PutOptions,
) =>
  change(scope, baseId, id, input, options, (held) => {
    if (!held) throw typeNotFound(id)
    const indexes = held.indexes.map(declaredIndex)
    return readInput(id, { ...fieldsOf(held), indexes, ...named(input) })
  })

type Fields = ReturnType<typeof readInput>

async function change(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RecordTypeInput,
  options: PutOptions,
  next: (held: TypeRow | null) => Fields,
): Promise<RecordType> {
  demand(scope.access, 'manage', baseId, id)
  const repair = { onInvalid: options.onInvalid, steps: readMigration(options) }
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const held = await tx.orm.recordType.findUnique({
      where: { baseId_id: { baseId, id } },
      include: WITH_INDEXES,
    })
    const fields = next(held)
    checkVersion(options.expected, held?.version, `record type "${id}"`)
    // Declared once more, an index that failed is tried once more.
    const isRetried = input.indexes !== undefined && (held?.indexes.some(hasFailed) ?? false)
    if (held) await holdTo(within, held, fields, { repair, isRetried })
    if (held && !isRetried && isDeepStrictEqual(fields, fieldsOf(held)))
      return { ...toRecordType(held), operation: 'unchanged' }
    const row = held ? await update(within, held, fields) : await create(within, baseId, id, fields)
    await finishChange(within, row, held ? 'update' : 'create')
    return { ...toRecordType(row), operation: held ? 'updated' : 'created' }
  })
}

async function create(scope: Scope, baseId: string, id: string, fields: Fields): Promise<TypeRow> {
  const { indexes, ...columns } = fields
  const isTaken = async (portableId: string) =>
    (await scope.db.orm.recordType.count({ where: { baseId, portableId } })) > 0
  const row = await scope.db.orm.recordType.create({
    data: {
      baseId,
      id,
      portableId: await choosePortableId(id, isTaken),
      revision: firstRevision(),
      ...columns,
    },
  })
  await syncIndexes(scope.db, row, [], indexes)
  return { ...row, indexes: await indexesOf(scope, row) }
}

/** None that a former type of the same id had: who validated data against that one must not find it unchanged. */
const firstRevision = () => randomInt(2 ** 30)

/** Holds what exists, records and their entries, to what the type will be, with no write between them and its change. */
async function holdTo(
  scope: WriteScope,
  held: TypeRow,
  fields: Fields,
  { repair, isRetried }: { repair: Repair; isRetried: boolean },
): Promise<void> {
  const { baseId, id } = held
  const isReindexed = isRetried || !isDeepStrictEqual(fields.indexes, held.indexes.map(resolvedIndex))
  const isReshaped = repair.steps.length > 0 || !isDeepStrictEqual(fields.jsonSchema, held.jsonSchema)
  if (isReindexed || isReshaped) await lockType(scope.db, baseId, id)
  // First, so that no index that goes refuses a repair.
  if (isReindexed) await syncIndexes(scope.db, held, held.indexes, fields.indexes)
  if (isReshaped) await reconcile(scope, baseId, id, fields.jsonSchema, repair)
}

async function update(scope: WriteScope, { baseId, id }: TypeRow, fields: Fields): Promise<TypeRow> {
  const { indexes, ...columns } = fields
  const row = await scope.db.orm.recordType.update({
    where: { baseId_id: { baseId, id } },
    data: { ...columns, version: { increment: 1 }, revision: { increment: 1 }, updatedAt: new Date() },
  })
  return { ...row, indexes: indexes.length > 0 ? await indexesOf(scope, row) : [] }
}

const hasFailed = ({ status }: TypeRow['indexes'][number]) => status === 'failed'

const indexesOf = (scope: Scope, { baseId, id }: { baseId: string; id: string }) =>
  scope.db.orm.recordTypeIndex.findMany({
    where: { baseId, recordType: id },
    orderBy: WITH_INDEXES.indexes.orderBy,
  })

function fieldsOf(row: TypeRow): Fields {
  const { name, description, icon, color, jsonSchema, timezone, display } = row
  return {
    name,
    description,
    icon,
    color,
    jsonSchema: jsonSchema as object,
    indexes: row.indexes.map(resolvedIndex),
    timezone,
    display: display as object,
  }
}

/** The fields that are given at all; null is given. */
const named = (input: RecordTypeInput): RecordTypeInput =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
