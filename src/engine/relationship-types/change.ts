import { isDeepStrictEqual } from 'node:util'
import { demand } from '../access.ts'
import { announce } from '../caches.ts'
import { appendChange } from '../changes.ts'
import type { Cardinality, OnDelete } from '../compiled-relationship-type.ts'
import { lockConfiguration } from '../configuration/lock.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import type { RelationshipType as Row } from '../prisma/client.ts'
import type { WriteScope } from '../write.ts'
import { holdLinks } from './hold.ts'
import { demandRecordTypes, type Fields, type RelationshipTypeInput, readInput } from './input.ts'
import { type RelationshipType, relationshipTypeNotFound, toRelationshipType } from './relationship-type.ts'

type PutOptions = { expected: Expectation; onInvalid: 'refuse' | 'allow' }

/** Creates the type or replaces it whole. @throws CONFLICT when links that exist would not be of the type */
export const putRelationshipType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RelationshipTypeInput,
  options: PutOptions,
) => change(scope, baseId, id, options, () => readInput(id, input))

/** Changes the fields that are named; each is replaced whole. @throws as putRelationshipType; NOT_FOUND */
export const patchRelationshipType = (
  scope: WriteScope,
  baseId: string,
  id: string,
  input: RelationshipTypeInput,
  options: PutOptions,
) =>
  change(scope, baseId, id, options, (held) => {
    if (!held) throw relationshipTypeNotFound(id)
    const named = Object.entries(input).filter(([, value]) => value !== undefined)
    return readInput(id, { ...fieldsOf(held), ...Object.fromEntries(named) })
  })

async function change(
  scope: WriteScope,
  baseId: string,
  id: string,
  { expected, onInvalid }: PutOptions,
  next: (held: Row | null) => Fields,
): Promise<RelationshipType> {
  demand(scope.access, 'manage', baseId, '*')
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.relationshipType.findUnique({ where })
    const fields = next(held)
    await demandRecordTypes(within, baseId, fields)
    checkVersion(expected, held?.version, `relationship type "${id}"`)
    if (held && isDeepStrictEqual(fields, fieldsOf(held)))
      return { ...toRelationshipType(held), operation: 'unchanged' }
    if (held) await holdLinks(within, held, fieldsOf(held), fields, onInvalid === 'allow')
    const row = held
      ? await tx.orm.relationshipType.update({
          where,
          data: { ...fields, version: { increment: 1 }, updatedAt: new Date() },
        })
      : await tx.orm.relationshipType.create({ data: { baseId, id, ...fields } })
    await finishChange(within, row, held ? 'update' : 'create')
    return { ...toRelationshipType(row), operation: held ? 'updated' : 'created' }
  })
}

/** Logs the change of a type and lets every process know of it. */
export async function finishChange(
  scope: WriteScope,
  row: Row,
  operation: 'create' | 'update' | 'delete',
): Promise<void> {
  const { baseId, id, version } = row
  const state = toRelationshipType(row)
  await appendChange(scope, { baseId, kind: 'relationship_type', id, operation, version, state })
  await announce(scope.db, `relationships:${baseId}`)
  scope.onCommit(() => scope.caches.forget(`relationships:${baseId}`))
}

const fieldsOf = (row: Row): Fields => ({
  name: row.name,
  description: row.description,
  dataSchema: row.dataSchema as object,
  sourceRecordTypes: row.sourceRecordTypes,
  targetRecordTypes: row.targetRecordTypes,
  cardinality: row.cardinality as Cardinality,
  onDelete: row.onDelete as OnDelete,
})
