import type { RelationshipTypeBody } from '../../../contract/shapes.ts'
import { type Detail, detailsThrownBy } from '../../../foundation/errors.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import type { FieldsOf } from '../lifecycle/kind.ts'

/** The stored fields of a relationship type. */
export type Fields = Omit<FieldsOf<typeof RelationshipTypeBody>, 'dataSchema'> & { dataSchema: object }

/** Validates the fields on their own, without other resources. */
export const fieldFaults = ({ sourceRecordTypes, targetRecordTypes, dataSchema }: Fields): Detail[] => [
  ...listFaults(sourceRecordTypes, '/source_record_types'),
  ...listFaults(targetRecordTypes, '/target_record_types'),
  ...detailsThrownBy(() => compileSchema(dataSchema, '/data_schema')),
]

function listFaults(ids: readonly string[], path: string): Detail[] {
  if (ids.length > 1 && ids.includes('*'))
    return [{ path, code: 'disagrees', message: '"*" is any record type: name it alone.', hint: '["*"]' }]
  const again = ids.findIndex((id, n) => ids.indexOf(id) < n)
  if (again < 0) return []
  return [{ path: `${path}/${again}`, code: 'duplicate', message: `"${ids[again]}" is named twice.` }]
}
