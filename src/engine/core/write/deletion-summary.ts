import { digest } from '../../../contract/canonical-hash.ts'
import { LIMITS } from '../../../foundation/limits.ts'

export type Counted = { readonly type: string; readonly count: number }

/** Running summary of what a deletion removes, limited to what the token may read. */
export type DeletionSummary = {
  readonly bases: string[]
  readonly recordTypes: string[]
  readonly relationshipTypes: string[]
  readonly fileTypes: string[]
  /** Number of deleted records, by type. */
  readonly records: Map<string, number>
  readonly links: Map<string, number>
  /** Number of deleted files, by file type. */
  readonly files: Map<string, number>
  /** Number of attachments that go with deleted records, by record type. */
  readonly attachments: Map<string, number>
  /** `type/id` of the first deleted records. Named records precede cascaded ones. */
  readonly samples: string[]
  /** Of each sample the title, or else the id that it has elsewhere. */
  readonly titles: (string | null)[]
  /** Names with versions, which must not change before approval. */
  readonly versions: string[]
}

type Versioned = { readonly id: string; readonly version: number }

export const openSummary = (): DeletionSummary => ({
  bases: [],
  recordTypes: [],
  relationshipTypes: [],
  fileTypes: [],
  records: new Map(),
  links: new Map(),
  files: new Map(),
  attachments: new Map(),
  samples: [],
  titles: [],
  versions: [],
})

/** Adds a deleted base or type. */
export function addNamed(
  summary: DeletionSummary,
  kind: 'bases' | 'recordTypes' | 'relationshipTypes' | 'fileTypes',
  { id, version }: Versioned,
): void {
  summary[kind].push(id)
  summary.versions.push(`${kind} ${id} ${version}`)
}

/** Adds individual deleted records; the first of them with their titles, as many as become samples. */
export function addRecords(
  summary: DeletionSummary,
  records: readonly (Versioned & { recordType: string })[],
  titles: readonly (string | null)[],
): void {
  for (const [n, { recordType, id, version }] of records.entries()) {
    addTo(summary.records, recordType, 1)
    if (summary.samples.length < LIMITS.samples) {
      summary.samples.push(`${recordType}/${id}`)
      summary.titles.push(titles[n] ?? null)
    }
    summary.versions.push(`record ${recordType} ${id} ${version}`)
  }
}

/** How many more records become samples. */
export const samplesLeft = ({ samples }: DeletionSummary): number => LIMITS.samples - samples.length

/** Adds counts of deleted records, links, files or attachments. */
export function addCounts(
  summary: DeletionSummary,
  kind: 'records' | 'links' | 'files' | 'attachments',
  counts: readonly Counted[],
): void {
  for (const { type, count } of counts) addTo(summary[kind], type, count)
}

/** Adds a link that the request names. */
export function addLink(
  summary: DeletionSummary,
  { rel_type, id, version }: Versioned & { rel_type: string },
): void {
  addTo(summary.links, rel_type, 1)
  summary.versions.push(`link ${id} ${version}`)
}

/**
 * Whether the deletion affects several things, such as a record with its links, or one that contains others.
 * Attachments do not count: they are a part of their record, and come back with it.
 */
export const isMany = ({ records, links, files, ...named }: DeletionSummary): boolean =>
  [named.bases, named.recordTypes, named.relationshipTypes, named.fileTypes].some(
    ({ length }) => length > 0,
  ) || sum(records) + sum(links) + sum(files) > 1

/** Whether nothing was added. */
export const isNothing = ({ records, links, files, ...named }: DeletionSummary): boolean =>
  named.versions.length === 0 && sum(records) + sum(links) + sum(files) === 0

/** State that the approval token is bound to. It differs when the deletion would differ. */
export const stateOf = ({ records, links, files, attachments, versions }: DeletionSummary): string =>
  digest([
    ...[records, links, files, attachments].map((counts) => [...counts].sort(byName)),
    [...versions].sort(),
  ])

const byName = ([a]: [string, number], [b]: [string, number]) => (a < b ? -1 : 1)

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0)

const addTo = (counts: Map<string, number>, type: string, more: number) =>
  counts.set(type, (counts.get(type) ?? 0) + more)
