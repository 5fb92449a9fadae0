import type { LockedRecords } from './locked-records.ts'
import { recordKey } from './locked-records.ts'
import { hasOwnLinks } from './nested-links.ts'
import {
  type DataOperation,
  type Id,
  isOfRecord,
  type LinkOperation,
  type OwnLink,
  type RecordOperation,
} from './operation.ts'
import type { Same, Touch } from './schedule.ts'

/** The conflict keys of an operation: each id or external id pair it may touch; a link pair by its id. */
export function touchesOf(operation: DataOperation, hasLinks: boolean): Touch[] {
  const touches = isOfRecord(operation) ? touchesOfRecord(operation) : touchesOfLink(operation)
  if (operation.isNamed) touches.push({ key: outcomeKey(operation.index) })
  if (hasLinks) touches.push(operation.type === 'delete_record' ? DELETIONS : OTHERS)
  return touches
}

// Cascades may delete any other record, so a deletion conflicts with everything that is not a deletion.
const DELETIONS: Touch = { key: '*', side: 'deletions' }
const OTHERS: Touch = { key: '*', side: 'others' }

function touchesOfRecord(operation: RecordOperation): Touch[] {
  const { recordType, id } = operation
  const externalId =
    'write' in operation
      ? operation.write.pair?.externalId
      : 'merge' in operation
        ? operation.merge.externalId
        : undefined
  const touches: Touch[] = id === null ? [] : [{ key: keyOf(recordType, id) }]
  if (externalId) touches.push({ key: externalKey(recordType, externalId) })
  if (hasOwnLinks(operation)) touches.push(...touchesOfOwnLinks(operation.links))
  return touches
}

const touchesOfOwnLinks = (links: readonly OwnLink[]): Touch[] => [
  { key: LINKS, side: 'upserts' },
  ...links.map(({ end, id }) => ({
    key: 'id' in end ? keyOf(end.recordType, id ?? end.id) : externalKey(end.recordType, end.externalId),
    side: 'link',
  })),
]

/** Link writes are executed together in order, so they conflict only with link deletions. */
function touchesOfLink(operation: LinkOperation): Touch[] {
  if (operation.type === 'delete_relationship') {
    const { id, ends } = operation
    const named = ends ? [ends.source, ends.target] : []
    return [
      { key: LINKS, side: 'deletions' },
      ...(id === null ? [] : [{ key: linkKey(id) }]),
      ...named.map((end) => ({ key: keyOf(end.recordType, end.id), side: 'link' })),
    ]
  }
  const { source, target, id } = operation
  return [
    { key: LINKS, side: 'upserts' },
    { key: keyOf(source.recordType, source.id), side: 'link' },
    { key: keyOf(target.recordType, target.id), side: 'link' },
    ...(id === null || typeof id === 'string' ? [] : [{ key: linkKey(id), side: 'link' }]),
  ]
}

/** Aliases between ids and external id pairs, before the first write. */
export const samesOf = (locked: LockedRecords): Same =>
  [...locked.all()].flatMap(([recordType, { id, external_id }]) =>
    external_id === null ? [] : [[recordKey(recordType, id), externalKey(recordType, external_id)] as const],
  )

const LINKS = '*links'
const outcomeKey = (index: number): string => `#${index}`
const keyOf = (recordType: string, id: Id): string =>
  typeof id === 'string' ? recordKey(recordType, id) : outcomeKey(id.ref)
const linkKey = (id: Id): string => (typeof id === 'string' ? `link\n\n\n${id}` : outcomeKey(id.ref))
const externalKey = (recordType: string, externalId: string): string => `${recordType}\n\n${externalId}`
