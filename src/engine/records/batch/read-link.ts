import type { z } from 'zod'
import type { OPERATION_SHAPES } from '../../../contract/batch-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { checkRecordId } from '../../data/ledger/record.ts'
import { checkEnds, readLink } from '../relationships/index.ts'
import type { Ends, Id, LinkOperation, Unplaced } from './operation.ts'
import { expectedOf } from './read-configuration.ts'
import { LATER, LINK, type Names, recordOf } from './references.ts'

type Shapes = typeof OPERATION_SHAPES
type Raw = z.output<Shapes['upsert_relationship' | 'create_relationship' | 'delete_relationship']>

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
  const id = raw.id === undefined ? null : idOf(raw.id)
  if (raw.type === 'delete_relationship') {
    const { type } = raw
    const ends = endsOf(raw, names)
    return { type, id, ends, expected: expectedOf(raw.expected_version) }
  }
  const { source, target } = placesOf(raw, names)
  const link = readLink(id === null ? null : plain(id), {
    relType: raw.rel_type,
    sourceRecordType: source.recordType,
    sourceId: plain(source.id),
    targetRecordType: target.recordType,
    targetId: plain(target.id),
    data: raw.data,
    externalId: raw.external_id,
    externalSource: raw.external_source,
    replace: raw.replace,
  })
  const expected = expectedOf(raw.expected_version)
  return { type: 'upsert_relationship', id, source, target, link: { ...link, expected } }
}

type RawEnds = {
  source_record_type: string
  source_id: string | { $ref: string }
  target_record_type: string
  target_id: string | { $ref: string }
}

const placesOf = (raw: RawEnds, names: Names): Pick<Ends, 'source' | 'target'> => ({
  source: {
    recordType: raw.source_record_type,
    id: names.resolve(raw.source_id, '/source_id', recordOf(raw.source_record_type)),
  },
  target: {
    recordType: raw.target_record_type,
    id: names.resolve(raw.target_id, '/target_id', recordOf(raw.target_record_type)),
  },
})

const ENDS = ['rel_type', 'source_record_type', 'source_id', 'target_record_type', 'target_id'] as const

/**
 * The ends of a link to delete; null if its id names it.
 * @throws VALIDATION_ERROR unless exactly one of them is complete
 */
function endsOf(raw: z.output<Shapes['delete_relationship']>, names: Names): Ends | null {
  const sent = ENDS.filter((key) => raw[key] !== undefined)
  if (raw.id !== undefined) {
    if (sent[0] === undefined) return null
    throw invalid({
      path: `/${sent[0]}`,
      code: 'exclusive',
      message: 'Name the relationship by id, or by rel_type and its ends, not by both.',
    })
  }
  const missing = ENDS.find((key) => raw[key] === undefined)
  if (missing !== undefined)
    throw invalid({
      path: sent.length === 0 ? '/id' : `/${missing}`,
      code: 'required',
      message: `Name the relationship by id, or by ${ENDS.join(', ')}.`,
    })
  const whole = raw as RawEnds & { rel_type: string }
  const ends = { relType: whole.rel_type, ...placesOf(whole, names) }
  const { source, target } = ends
  checkEnds({
    relType: ends.relType,
    sourceRecordType: source.recordType,
    sourceId: plain(source.id),
    targetRecordType: target.recordType,
    targetId: plain(target.id),
  })
  return ends
}
