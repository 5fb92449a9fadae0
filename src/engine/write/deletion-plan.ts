import { LIMITS } from '../../foundation/limits.ts'
import type { Counted, DeletionSummary } from './deletion-summary.ts'

/** The total count, and the largest groups by name, up to `LIMITS.planNames`. */
type Group = { readonly count: number; readonly of: readonly Counted[] }

/** Deletion preview: what a deletion removes, limited to what the token may read, and the approval token. */
export type DeletionPlan = {
  /** Summary sentence: `Deletes 3 records (2 note, 1 deal) and 2 relationships (2 about).` */
  readonly what: string
  readonly bases: Group
  readonly recordTypes: Group
  readonly relationshipTypes: Group
  readonly records: Group
  readonly relationships: Group
  /** `type/id` of the first records. Named records precede cascaded ones. */
  readonly samples: readonly string[]
  readonly token: string
  readonly expiresAt: string
}

/** Builds the plan from the summary of a deletion. */
export function planOf(summary: DeletionSummary, token: string, expiresAt: Date): DeletionPlan {
  const groups = {
    bases: named(summary.bases),
    recordTypes: named(summary.recordTypes),
    relationshipTypes: named(summary.relationshipTypes),
    records: counted(summary.records),
    relationships: counted(summary.links),
  }
  return {
    what: sentence(groups),
    ...groups,
    samples: summary.samples,
    token,
    expiresAt: expiresAt.toISOString(),
  }
}

type Groups = Pick<DeletionPlan, keyof typeof NOUNS>

const NOUNS = {
  bases: 'base',
  recordTypes: 'record type',
  relationshipTypes: 'relationship type',
  records: 'record',
  relationships: 'relationship',
} as const
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

const WORDS = 5

/** `3 records (2 note, 1 deal)` */
function phrase(part: keyof Groups, { count, of }: Group): string {
  const isCounted = part === 'records' || part === 'relationships'
  const words = of.slice(0, WORDS).map((each) => (isCounted ? `${each.count} ${each.type}` : each.type))
  const more = of.length > WORDS ? ', …' : ''
  return `${count} ${NOUNS[part]}${count === 1 ? '' : 's'} (${words.join(', ')}${more})`
}
