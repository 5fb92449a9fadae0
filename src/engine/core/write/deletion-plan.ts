import { LIMITS } from '../../../foundation/limits.ts'
import { type Counted, type DeletionSummary, stateOf } from './deletion-summary.ts'
import type { Approvable, Review } from './plan-approval.ts'

/** The total count, and the largest groups by name, up to `LIMITS.planNames`. */
type Group = { readonly count: number; readonly of: readonly Counted[] }

/** What a deletion removes, limited to what the token may read. */
export type Deletion = {
  readonly bases: Group
  readonly recordTypes: Group
  readonly relationshipTypes: Group
  readonly fileTypes: Group
  readonly records: Group
  readonly relationships: Group
  readonly files: Group
  readonly attachments: Group
  /** `type/id` of the first records. Named records precede cascaded ones. */
  readonly samples: readonly string[]
  readonly titles: readonly (string | null)[]
}

/** Deletion preview, with the approval token. */
export type DeletionPlan = Approvable &
  Deletion & {
    /** Summary sentence: `Deletes 3 records (2 note, 1 deal) and 2 relationships (2 about).` */
    readonly what: string
  }

/** Builds the plan of a deletion from its summary. */
export function reviewOf(summary: DeletionSummary): Review {
  const deletion = deletionOf(summary)
  const what = sentence(deletion)
  const plan: Omit<DeletionPlan, keyof Approvable> = { what, ...deletion }
  return { state: stateOf(summary), what, plan }
}

/** What the summary counts and names. */
export function deletionOf(summary: DeletionSummary): Deletion {
  return {
    bases: named(summary.bases),
    recordTypes: named(summary.recordTypes),
    relationshipTypes: named(summary.relationshipTypes),
    fileTypes: named(summary.fileTypes),
    records: counted(summary.records),
    relationships: counted(summary.links),
    files: counted(summary.files),
    attachments: counted(summary.attachments),
    samples: summary.samples,
    titles: summary.titles,
  }
}

type Groups = Pick<Deletion, keyof typeof NOUNS>

const NOUNS = {
  bases: 'base',
  recordTypes: 'record type',
  relationshipTypes: 'relationship type',
  fileTypes: 'file type',
  records: 'record',
  relationships: 'relationship',
  files: 'file',
  attachments: 'attachment',
} as const
const COUNTED: readonly (keyof typeof NOUNS)[] = ['records', 'relationships', 'files', 'attachments']
const PARTS = Object.keys(NOUNS) as (keyof typeof NOUNS)[]

const named = (ids: readonly string[]): Group => ({
  count: ids.length,
  of: ids.slice(0, LIMITS.planNames).map((type) => ({ type, count: 1 })),
})

function counted(counts: ReadonlyMap<string, number>): Group {
  const all = [...counts].map(([type, count]) => ({ type, count }))
  const count = all.reduce((sum, each) => sum + each.count, 0)
  return { count, of: all.sort(mostFirst).slice(0, LIMITS.planNames) }
}

const mostFirst = (a: Counted, b: Counted) => b.count - a.count || (a.type < b.type ? -1 : 1)

function sentence(groups: Groups): string {
  const parts = PARTS.filter((part) => groups[part].count > 0).map((part) => phrase(part, groups[part]))
  const last = parts.pop() ?? 'nothing'
  return `Deletes ${parts.length > 0 ? `${parts.join(', ')} and ${last}` : last}.`
}

/** `3 records (2 note, 1 deal)` */
function phrase(part: keyof Groups, { count, of }: Group): string {
  const isCounted = COUNTED.includes(part)
  const words = of
    .slice(0, LIMITS.planWords)
    .map((each) => (isCounted ? `${each.count} ${each.type}` : each.type))
  const more = of.length > LIMITS.planWords ? ', …' : ''
  return `${count} ${NOUNS[part]}${count === 1 ? '' : 's'} (${words.join(', ')}${more})`
}
