/** The rows of a seed as operations of a batch. */
import { digest } from '../../../contract/canonical-hash.ts'
import { endKey, linkKey, type SeedRows } from '../../configuration/seeds/index.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import { dataText } from '../../data/ledger/record.ts'
import type { LinkOperation, RecordOperation } from '../../records/batch/operation.ts'
import { LATER } from '../../records/batch/references.ts'
import { sourceOf } from './owned-rows.ts'

type End = SeedRows['relationships'][number]['source']

/** The external_id of a link, which the seed does not name. */
export const linkIdOf = (link: Parameters<typeof linkKey>[0]): string => digest(linkKey(link))

/** Upserts of the records, in the order of the seed. */
export const recordUpserts = (
  seedId: string,
  { records }: SeedRows,
  { recordBytes }: { readonly recordBytes: number },
): RecordOperation[] =>
  records.map(({ record_type, external_id, data }, index) => ({
    type: 'upsert_record',
    index,
    isNamed: true,
    recordType: record_type,
    id: null,
    write: {
      data,
      text: dataText(data, recordBytes),
      pair: { externalId: external_id, externalSource: sourceOf(seedId) },
    },
    links: [],
    expected: NO_EXPECTATION,
  }))

/** Upserts of the relationships, after those of the records. */
export function linkUpserts(seedId: string, { records, relationships }: SeedRows): LinkOperation[] {
  const places = new Map(records.map((record, index) => [endKey(record), index]))
  const endOf = (end: End) => ({ recordType: end.record_type, id: { ref: places.get(endKey(end)) ?? -1 } })
  return relationships.map((link, n) => ({
    type: 'upsert_relationship',
    index: records.length + n,
    isNamed: false,
    id: null,
    source: endOf(link.source),
    target: endOf(link.target),
    link: {
      id: null,
      relType: link.rel_type,
      source: { recordType: link.source.record_type, id: LATER },
      target: { recordType: link.target.record_type, id: LATER },
      data: link.data ?? {},
      pair: { externalId: linkIdOf(link), externalSource: sourceOf(seedId) },
    },
  }))
}
