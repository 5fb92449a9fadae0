import { digest } from '../../contract/canonical-hash.ts'

export type Counted = { readonly type: string; readonly count: number }

/** What a deletion takes, told as it goes: of what the token may read, and of nothing else. */
export type DeletionSummary = {
  readonly bases: string[]
  readonly recordTypes: string[]
  readonly relationshipTypes: string[]
  /** How many go, by type. */
  readonly records: Map<string, number>
  readonly links: Map<string, number>
  /** `type/id` of the first records that go, those that were named before what goes along. */
  readonly samples: string[]
  /** Links that were named, and do not just go with an end. */
  namedLinks: number
  /** Names with versions: what may not have changed since. */
  readonly versions: string[]
}

type Versioned = { readonly id: string; readonly version: number }

const SAMPLES = 10

export const openSummary = (): DeletionSummary => ({
  bases: [],
  recordTypes: [],
  relationshipTypes: [],
  records: new Map(),
  links: new Map(),
  samples: [],
  namedLinks: 0,
  versions: [],
})

/** Tells of a base or a type that goes. */
export function addNamed(
  taken: DeletionSummary,
  kind: 'bases' | 'recordTypes' | 'relationshipTypes',
  { id, version }: Versioned,
): void {
  taken[kind].push(id)
  taken.versions.push(`${kind} ${id} ${version}`)
}

/** Tells of records that go, one by one. */
export function addRecords(
  taken: DeletionSummary,
  records: readonly (Versioned & { recordType: string })[],
): void {
  for (const { recordType, id, version } of records) {
    addTo(taken.records, recordType, 1)
    if (taken.samples.length < SAMPLES) taken.samples.push(`${recordType}/${id}`)
    taken.versions.push(`record ${recordType} ${id} ${version}`)
  }
}

/** Tells of records or links that go in numbers. */
export function addCounts(
  taken: DeletionSummary,
  kind: 'records' | 'links',
  counts: readonly Counted[],
): void {
  for (const { type, count } of counts) addTo(taken[kind], type, count)
}

/** Tells of a link that goes for itself. */
export function addLink(
  taken: DeletionSummary,
  { rel_type, id, version }: Versioned & { rel_type: string },
): void {
  addTo(taken.links, rel_type, 1)
  taken.namedLinks++
  taken.versions.push(`link ${id} ${version}`)
}

/** Is it more than one thing, or one that holds others? */
export const isMany = ({
  bases,
  recordTypes,
  relationshipTypes,
  records,
  namedLinks,
}: DeletionSummary): boolean =>
  bases.length + recordTypes.length + relationshipTypes.length > 0 || sum(records) + namedLinks > 1

/** Names what is taken: another name when it would be something else. */
export const stateOf = ({ records, links, versions }: DeletionSummary): string =>
  digest([[...records].sort(byName), [...links].sort(byName), [...versions].sort()])

const byName = ([a]: [string, number], [b]: [string, number]) => (a < b ? -1 : 1)

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0)

const addTo = (counts: Map<string, number>, type: string, more: number) =>
  counts.set(type, (counts.get(type) ?? 0) + more)
