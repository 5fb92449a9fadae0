import type { z } from 'zod'
import type { OPERATION_SHAPES } from '../../../contract/batch-shapes.ts'
import { camelFields } from '../../../contract/field-names.ts'
import { invalid } from '../../../foundation/errors.ts'
import { type Expectation, NO_EXPECTATION } from '../../core/write/preconditions.ts'
import {
  type ConfigurationName,
  type ConfigurationOperation,
  kindOfOperation,
  type Unplaced,
} from './operation.ts'

type Raw = z.output<(typeof OPERATION_SHAPES)[ConfigurationName]>
type Deletion = { confirm?: string; expected_version?: number }
/** The members of an upsert, of any kind. */
type Upsert = { body?: Body; merge?: boolean; on_invalid?: 'allow'; migrate?: boolean }
type Body = { id?: string; expected_version?: number; migration?: unknown; sources?: unknown }

/**
 * Parses a configuration operation.
 * @throws VALIDATION_ERROR
 */
export function readConfiguration(raw: Raw): Unplaced<ConfigurationOperation> {
  const { type, id } = raw
  const kind = kindOfOperation(raw)
  if (!kind) throw new Error(`No kind of configuration has the operation ${type}`)
  if (type.startsWith('delete_')) {
    const { confirm = null, expected_version } = raw as Deletion
    return { type, kind, id, confirm, expected: expectedOf(expected_version) }
  }
  const { body = {}, merge = false, on_invalid, migrate = false } = raw as Upsert
  checkSameId(id, body.id)
  if (migrate && on_invalid) throw bothRepairs()
  const { id: _id, sources: _sources, expected_version, migration, ...fields } = body
  const onInvalid = migrate ? 'migrate' : (on_invalid ?? 'refuse')
  const written = merge ? { merge: fields } : { input: camelFields(fields) }
  return {
    type,
    kind,
    id,
    ...written,
    repair: { onInvalid, migration },
    expected: expectedOf(expected_version),
  }
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
