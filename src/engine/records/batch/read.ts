import type { z } from 'zod'
import { OPERATION_NAMES, OPERATION_SHAPES, type OperationName } from '../../../contract/batch-shapes.ts'
import { ID_RULES, isTypeId } from '../../../contract/ids.ts'
import { meantField, meantValue } from '../../../contract/suggest.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { checkRecordId, dataText, readPair } from '../../data/ledger/record.ts'
import { collect } from './faults.ts'
import { readOwnLinks } from './nested-links.ts'
import type { Failure, Operation, RecordOperation, Unplaced } from './operation.ts'
import { expectedOf, readConfiguration } from './read-configuration.ts'
import { readLinkOperation } from './read-link.ts'
import { LINK, type Names, openNames, recordOf } from './references.ts'

type Limits = { readonly recordBytes: number }
type Shapes = typeof OPERATION_SHAPES
type Raw<K extends OperationName> = z.output<Shapes[K]>

/** Parses all operations and collects their errors. */
export async function readOperations(
  list: readonly unknown[],
  limits: Limits,
): Promise<{ operations: Operation[]; failures: Failure[] }> {
  const names = openNames()
  const failures: Failure[] = []
  const operations: Operation[] = []
  let index = 0
  const read = () => readOperation(list[index], index, names, limits)
  const name = () => nameOperation(list[index], index, names)
  for (; index < list.length; index++) {
    if (turnIsOver()) await nextTurn()
    const operation = collect(failures, index, read)
    // An invalid operation defines its name too, so that references to it add no further errors.
    collect(failures, index, name)
    if (operation) operations.push(operation)
  }
  for (const operation of operations) operation.isNamed = names.isReferred(operation.index)
  return { operations, failures }
}

/**
 * Checks the list length before any item is read.
 * @throws VALIDATION_ERROR if it is not a list or too long
 */
export function readList(raw: unknown): readonly unknown[] {
  if (Array.isArray(raw) && raw.length >= 1 && raw.length <= LIMITS.batchOperations) return raw
  throw invalid({
    path: '/operations',
    code: Array.isArray(raw) ? (raw.length === 0 ? 'too_small' : 'too_big') : 'type',
    message: `operations must be a list of 1 to ${LIMITS.batchOperations.toLocaleString('en')} operations. Send more in several batches.`,
    ...(Array.isArray(raw) && { received: raw.length }),
  })
}

function readOperation(raw: unknown, index: number, names: Names, limits: Limits): Operation {
  const type = requireType(raw)
  const shaped = check(OPERATION_SHAPES[type], raw, inBody())
  return Object.assign(readOne(shaped, names, limits), { index, isNamed: false }) as Operation
}

function nameOperation(raw: unknown, index: number, names: Names): void {
  const { name, record_type, rel_type } = (raw ?? {}) as Record<string, unknown>
  if (typeof name !== 'string') return
  if (typeof record_type === 'string') names.define(name, index, recordOf(record_type))
  else if (typeof rel_type === 'string') names.define(name, index, LINK)
}

function requireType(raw: unknown): OperationName {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw invalid({ path: '', code: 'type', message: 'An operation must be an object.', expected: 'object' })
  const { type } = raw as { type?: unknown }
  if (OPERATION_NAMES.some((name) => name === type)) return type as OperationName
  // Models write the type under another name.
  const named = type ?? Object.entries(raw).find(([name]) => meantField(name, ['type']))?.[1]
  const hint = typeof named === 'string' ? meantValue(named, OPERATION_NAMES) : undefined
  throw invalid({
    path: '/type',
    code: type === undefined ? 'required' : 'enum',
    message: `type must be one of ${OPERATION_NAMES.join(', ')}.`,
    allowed: OPERATION_NAMES,
    ...(typeof type === 'string' && { received: type.slice(0, 64) }),
    ...(hint !== undefined && { hint }),
  })
}

function readOne(raw: Raw<OperationName>, names: Names, limits: Limits): Unplaced<Operation> {
  if ('record_type' in raw) return readRecordOperation(raw, names, limits)
  if ('rel_type' in raw || raw.type === 'delete_relationship') return readLinkOperation(raw, names)
  return readConfiguration(raw)
}

type RawRecord = Extract<Raw<OperationName>, { record_type: string }>

function readRecordOperation(raw: RawRecord, names: Names, limits: Limits): Unplaced<RecordOperation> {
  const { record_type: recordType } = raw
  if (!isTypeId(recordType))
    throw invalid({
      path: '/record_type',
      code: 'invalid_id',
      message: `A record type id must be ${ID_RULES.type}.`,
      received: recordType.slice(0, 70),
    })
  const idOf = (id: string | { $ref: string }) => {
    if (typeof id === 'string') checkRecordId(id)
    return names.resolve(id, '/id', recordOf(recordType))
  }
  switch (raw.type) {
    case 'upsert_record': {
      const { type, id } = raw
      const write = contentOf(raw, limits)
      if (id === undefined && !write.pair) throw nothingNamed()
      return {
        type,
        recordType,
        id: id === undefined ? null : idOf(id),
        write,
        links: readOwnLinks(raw.relationships, names),
        keeps: raw.on_existing === 'keep',
        expected: expectedOf(raw.expected_version, claimOf(raw)),
      }
    }
    case 'create_record': {
      const { type, id } = raw
      if (id !== undefined) checkRecordId(id)
      return {
        type,
        recordType,
        id: id ?? uuidv7(),
        isNewId: id === undefined,
        write: contentOf(raw, limits),
        links: readOwnLinks(raw.relationships, names),
      }
    }
    case 'patch_record': {
      const { type, data, append, remove, external_id: externalId, external_source: externalSource } = raw
      const merge = { data, append, remove, externalId, externalSource }
      return {
        type,
        recordType,
        id: idOf(raw.id),
        merge,
        expected: expectedOf(raw.expected_version, claimOf(raw)),
      }
    }
    default:
      return {
        type: raw.type,
        recordType,
        id: idOf(raw.id),
        expected: expectedOf(raw.expected_version, claimOf(raw)),
      }
  }
}

const claimOf = (raw: object): string | null => (raw as { claim_id?: string }).claim_id ?? null

type RawContent = { data: unknown; external_id?: string | undefined; external_source?: string | undefined }

const contentOf = ({ data, external_id, external_source }: RawContent, { recordBytes }: Limits) => ({
  data,
  text: dataText(data, recordBytes),
  pair: readPair({ externalId: external_id, externalSource: external_source }),
})

const nothingNamed = () =>
  invalid({
    path: '/id',
    code: 'required',
    message: 'id or external_id is required. To create a record under a new id, send create_record.',
  })
