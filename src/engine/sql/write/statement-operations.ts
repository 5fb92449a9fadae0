/** Turns the rows of a statement into operations of the batch. */

import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { relationshipTypesOf } from '../../configuration/relationship-types/index.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { refuse } from '../../records/batch/faults.ts'
import { type DataOperation, isConfiguration } from '../../records/batch/operation.ts'
import { readOperations } from '../../records/batch/read.ts'
import type { RowName } from './faults.ts'
import type { Values } from './rows-to-write.ts'
import { LINK_ENDS } from './translate/update.ts'

/** A row to write: its name for errors, and the operation or the raw form that the batch reads. */
export type RowToWrite = RowName &
  ({ readonly operation: Assign } | { readonly raw: object; readonly moves?: boolean })

type Assign = Omit<Extract<DataOperation, { type: 'patch_record' }>, 'index' | 'isNamed'>

/** Assigns properties of a record at the version that was read. */
export function assign(
  recordType: string,
  id: string,
  version: number,
  { properties, fields, data }: Values,
): RowToWrite {
  const merge = {
    assign: { properties, ...(data !== undefined && { data }) },
    ...(fields.has('external_id') && { externalId: fields.get('external_id') ?? null }),
    ...(fields.has('external_source') && { externalSource: fields.get('external_source') ?? null }),
  }
  const expected = { ...NO_EXPECTATION, versions: [version] }
  return { id, kind: recordType, operation: { type: 'patch_record', recordType, id, merge, expected } }
}

/** Creates a record; without an id under a new one. */
export function create(recordType: string, { properties, fields, data }: Values): RowToWrite {
  const given = fields.get('id') ?? null
  const there = properties.filter(([, value]) => value !== undefined)
  const raw = {
    type: 'create_record',
    record_type: recordType,
    ...(given !== null && { id: given }),
    data: data ?? Object.fromEntries(there),
    ...pairOf(fields),
  }
  return { id: given, kind: recordType, raw }
}

function pairOf(fields: Values['fields']) {
  const external_id = fields.get('external_id') ?? undefined
  const external_source = fields.get('external_source') ?? undefined
  return {
    ...(external_id !== undefined && { external_id }),
    ...(external_source !== undefined && { external_source }),
  }
}

/** Deletes a record or link at the version that was read. */
export const remove = (recordType: string | null, id: string, expected_version: number): RowToWrite => ({
  id,
  kind: recordType ?? 'relationship',
  raw:
    recordType === null
      ? { type: 'delete_relationship', id, expected_version }
      : { type: 'delete_record', record_type: recordType, id, expected_version },
})

/** Writes a link: a new one, or the data of one at the version that was read. `typesOf` fills in the type of an end. */
export function link(
  fields: Values['fields'],
  data: unknown,
  { id, version, path, typesOf }: LinkRow,
): RowName & { readonly raw: object } {
  const relType = fields.get('rel_type') ?? ''
  const ends = LINK_ENDS.map((name): [string, string] => {
    const given = fields.get(name) ?? null
    if (given !== null) return [name, given]
    const types = typesOf?.(relType, name)
    const [only, ...others] = types ?? []
    if (only !== undefined && others.length === 0) return [name, only]
    throw missingEnd(`${path}/${name}`, name, types)
  })
  return {
    id,
    kind: 'relationship',
    raw: {
      type: 'upsert_relationship',
      ...Object.fromEntries(ends),
      ...(data !== undefined && { data }),
      ...(id !== null && { id }),
      ...(version !== null && { expected_version: version }),
    },
  }
}

/**
 * Moves a link to other ends, under its id. Its version need not be compared: the link is locked since it was
 * read.
 */
export function move(fields: Values['fields'], data: unknown, row: LinkRow): RowToWrite {
  const { raw, ...name } = link(fields, data, { ...row, version: null })
  return { ...name, raw: { ...raw, ...pairOf(fields) }, moves: true }
}

export type LinkRow = {
  readonly id: string | null
  readonly version: number | null
  readonly path: string
  readonly typesOf?: EndTypes
}

const missingEnd = (path: string, name: string, types: readonly string[] | undefined) =>
  invalid({
    path,
    code: 'required',
    message: `A link needs ${name}. Only a record type that the relationship type leaves no choice of can be left out.`,
    ...(types?.length && { allowed: types.slice(0, LIMITS.sqlEndTypesAllowed) }),
  })

/**
 * Reads the rows as operations of the batch.
 * @throws VALIDATION_ERROR with the faults of all rows at `/operations/<n>`
 */
export async function operationsOf(scope: WriteScope, rows: readonly RowToWrite[]): Promise<DataOperation[]> {
  const raws = rows.map((row) => ('raw' in row ? row.raw : undefined))
  const list = raws.filter((raw) => raw !== undefined)
  const places = raws.flatMap((raw, index) => (raw === undefined ? [] : [index]))
  const placeOf = (index: number) => places[index] ?? index
  const { operations, failures } = await readOperations(list, scope.limits)
  refuse(failures.map(({ index, error }) => ({ index: placeOf(index), error })))
  const read = operations.flatMap((operation) => (isConfiguration(operation) ? [] : [operation]))
  const byPlace = new Map(read.map((operation) => [placeOf(operation.index), operation]))
  return rows.flatMap((row, index): DataOperation[] => {
    if ('operation' in row) return [{ ...row.operation, index, isNamed: false }]
    const operation = byPlace.get(index)
    if (!operation) return []
    const { moves } = row
    return moves && operation.type === 'upsert_relationship'
      ? [{ ...operation, index, link: { ...operation.link, moves } }]
      : [{ ...operation, index }]
  })
}

// The record types that the ends of a new link can have.

const SIDES = {
  source_record_type: 'sourceRecordTypes',
  target_record_type: 'targetRecordTypes',
} as const
type Side = keyof typeof SIDES

/** The types that an end can have, among those that the token may write; undefined if any type can be. */
type EndTypes = (relType: string, side: string) => readonly string[] | undefined

/** Loads the relationship types of the base. */
export async function endTypesOf(scope: WriteScope, baseId: string): Promise<EndTypes> {
  const types = await relationshipTypesOf(scope, baseId)
  return (relType, side) => {
    const named = isSide(side) ? types.get(relType)?.[SIDES[side]] : undefined
    if (!named || named.includes('*')) return undefined
    return named.filter((id) => scope.access.allows('write', baseId, id))
  }
}

const isSide = (name: string): name is Side => Object.hasOwn(SIDES, name)
