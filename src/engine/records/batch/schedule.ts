import { type LockedRecords, recordKey } from './locked-records.ts'
import { hasOwnLinks } from './nested-links.ts'
import {
  type DataOperation,
  type Id,
  isOfRecord,
  type LinkOperation,
  type OwnLink,
  type RecordOperation,
} from './operation.ts'

/**
 * A conflict key of an operation. Two operations with the same key run in different dependency levels, in
 * batch order, unless they have the same side of it.
 */
type Touch = { readonly key: string; readonly side?: string }

/** Equivalent keys, such as the id and the external id pair of a record. */
type Same = readonly (readonly [string, string])[]

/**
 * Assigns operations to dependency levels: operations of one level are independent, so that one statement may
 * execute several. @returns the indexes of each level, ascending
 */
export function planWaves(touches: readonly (readonly Touch[])[], same: Same): number[][] {
  if (areApart(touches, same)) return [[...touches.keys()]]
  const { find, join } = joinable()
  for (const [a, b] of same) join(a, b)
  for (const each of touches) {
    // Keys of one operation are equivalent, since they may resolve to the same record.
    const [first, ...rest] = each.filter(({ side }) => side === undefined)
    for (const { key } of rest) join(first?.key ?? key, key)
  }
  const waves: number[][] = []
  /** The last level per key and side. */
  const last = new Map<string, Map<string, number>>()
  for (const [index, each] of touches.entries()) {
    let wave = 0
    for (const { key, side } of each)
      for (const [other, at] of last.get(find(key)) ?? [])
        if (side === undefined || other !== side) wave = Math.max(wave, at + 1)
    for (const { key, side = '' } of each) {
      const root = find(key)
      const sides = last.get(root) ?? new Map<string, number>()
      last.set(root, sides.set(side, Math.max(wave, sides.get(side) ?? 0)))
    }
    const others = waves[wave]
    if (others) others.push(index)
    else waves[wave] = [index]
  }
  return waves
}

/** Whether no two operations conflict, which is the common case. */
function areApart(touches: readonly (readonly Touch[])[], same: Same): boolean {
  const sides = new Map<string, string | undefined>()
  for (const each of touches)
    for (const { key, side } of each) {
      if (sides.has(key) && (side === undefined || sides.get(key) !== side)) return false
      sides.set(key, side)
    }
  for (const [, other] of same) {
    if (sides.has(other)) return false
    sides.set(other, undefined)
  }
  return true
}

/** Disjoint sets (union-find). */
function joinable() {
  const parents = new Map<string, string>()
  const find = (key: string): string => {
    const parent = parents.get(key)
    if (parent === undefined) return key
    const root = find(parent)
    parents.set(key, root)
    return root
  }
  const join = (a: string, b: string): void => {
    const [rootA, rootB] = [find(a), find(b)]
    if (rootA !== rootB) parents.set(rootA, rootB)
  }
  return { find, join }
}

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
