import type { z } from 'zod'
import type { OPERATION_SHAPES } from '../../contract/batch-shapes.ts'
import { camelFields } from '../../contract/field-names.ts'
import { invalid } from '../../foundation/errors.ts'
import { type Expectation, NO_EXPECTATION } from '../write/preconditions.ts'
import type { ConfigurationOperation, Unplaced } from './operation.ts'

type Shapes = typeof OPERATION_SHAPES
type Raw<K extends keyof Shapes> = z.output<Shapes[K]>
type RawConfiguration = Raw<
  'upsert_record_type' | 'delete_record_type' | 'upsert_relationship_type' | 'delete_relationship_type'
>

/**
 * Parses a configuration operation.
 * @throws VALIDATION_ERROR
 */
export function readConfiguration(raw: RawConfiguration): Unplaced<ConfigurationOperation> {
  if (raw.type === 'upsert_record_type') return readRecordType(raw)
  if (raw.type === 'upsert_relationship_type') return readRelationshipType(raw)
  const { type, id, confirm = null, expected_version } = raw
  return { type, id, confirm, expected: expectedOf(expected_version) }
}

function readRecordType(raw: Raw<'upsert_record_type'>): Unplaced<ConfigurationOperation> {
  const { type, id, body = {}, on_invalid, migrate = false } = raw
  checkSameId(id, body.id)
  if (migrate && on_invalid) throw bothRepairs()
  const { json_schema, migration, expected_version, id: _id, sources: _sources, ...texts } = body
  const input = { ...texts, jsonSchema: json_schema }
  const onInvalid = migrate ? 'migrate' : (on_invalid ?? 'refuse')
  return { type, id, input, migration, onInvalid, expected: expectedOf(expected_version) }
}

function readRelationshipType(raw: Raw<'upsert_relationship_type'>): Unplaced<ConfigurationOperation> {
  const { type, id, body = {}, on_invalid = 'refuse' } = raw
  checkSameId(id, body.id)
  const { id: _id, expected_version, ...fields } = body
  const input = camelFields(fields)
  return { type, id, input, onInvalid: on_invalid, expected: expectedOf(expected_version) }
}

/** Preconditions from `expected_version` and `claim_id`. */
export const expectedOf = (version: number | undefined, claim: string | null = null): Expectation =>
  version === undefined
    ? { ...NO_EXPECTATION, claim }
    : { versions: [version], exists: true, absent: false, claim }

function checkSameId(id: string, received: string | undefined): void {
  if (received === undefined || received === id) return
  throw invalid({
    path: '/body/id',
    code: 'disagrees',
    message: 'The id in the body differs from the id of the operation. Leave it out, or send the same id.',
    expected: id,
    received,
  })
}

const bothRepairs = () =>
  invalid({
    path: '/on_invalid',
    code: 'disagrees',
    message: 'on_invalid=allow and migrate=true exclude each other. Send one of them.',
  })
