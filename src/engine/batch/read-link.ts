import type { z } from 'zod'
import type { OPERATION_SHAPES } from '../../contract/batch-shapes.ts'
import { checkRecordId } from '../record-store/record.ts'
import { readLink } from '../relationships/index.ts'
import type { Id, LinkOperation, Unplaced } from './operation.ts'
import { expectedOf } from './read-configuration.ts'
import { LATER, LINK, type Names, recordOf } from './refs.ts'

type Shapes = typeof OPERATION_SHAPES
type Raw = z.output<Shapes['upsert_relationship' | 'delete_relationship']>

const plain = (id: Id): string => (typeof id === 'string' ? id : LATER)

/**
 * Parses a link operation.
 * @throws VALIDATION_ERROR
 */
export function readLinkOperation(raw: Raw, names: Names): Unplaced<LinkOperation> {
  const idOf = (id: string | { $ref: string }) => {
    if (typeof id === 'string') checkRecordId(id)
    return names.resolve(id, '/id', LINK)
  }
  if (raw.type === 'delete_relationship')
    return { type: raw.type, id: idOf(raw.id), expected: expectedOf(raw.expected_version) }
  const id = raw.id === undefined ? null : idOf(raw.id)
  const source = {
    recordType: raw.source_record_type,
    id: names.resolve(raw.source_id, '/source_id', recordOf(raw.source_record_type)),
  }
  const target = {
    recordType: raw.target_record_type,
    id: names.resolve(raw.target_id, '/target_id', recordOf(raw.target_record_type)),
  }
  const link = readLink(id === null ? null : plain(id), {
    relType: raw.rel_type,
    sourceRecordType: source.recordType,
    sourceId: plain(source.id),
    targetRecordType: target.recordType,
    targetId: plain(target.id),
    data: raw.data,
    externalId: raw.external_id,
    externalSource: raw.external_source,
  })
  return { type: raw.type, id, source, target, link: { ...link, expected: expectedOf(raw.expected_version) } }
}
