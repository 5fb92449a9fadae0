/** One row for neighbours: what one author did with one tool within half an hour. A request is too fine to read. */
import type { ChangedField, Count, Group, Proposer } from '../../api/shapes.ts'

/** Requests that are read as one, newest first. */
export type Folded = {
  groups: readonly Group[]
  count: number
  by: readonly Count[]
  fields: readonly ChangedField[]
  proposed: readonly Proposer[]
  first: string
  last: string
  /** How many of the changes are taken back. */
  undone: number
  isUndone: boolean
}

const WITHIN_MS = 30 * 60_000

const isLike = (a: Group, b: Group) =>
  a.actor.token_id === b.actor.token_id &&
  a.call?.tool === b.call?.tool &&
  a.call?.endpoint === b.call?.endpoint &&
  (a.undone_by === null) === (b.undone_by === null) &&
  kindsOf(a) === kindsOf(b) &&
  Math.abs(Date.parse(a.first_at) - Date.parse(b.last_at)) < WITHIN_MS

const kindsOf = ({ by }: Group) =>
  by
    .map(({ kind, record_type, operation }) => `${kind} ${record_type} ${operation}`)
    .sort()
    .join()

export function fold(groups: readonly Group[]): Folded[] {
  const rows: Group[][] = []
  for (const group of groups) {
    const row = rows.at(-1)
    const last = row?.at(-1)
    if (row && last && isLike(last, group)) row.push(group)
    else rows.push([group])
  }
  return rows.map(foldedOf)
}

export function foldedOf(groups: readonly Group[]): Folded {
  return {
    groups,
    count: groups.reduce((sum, { count }) => sum + count, 0),
    by: sumBy(
      groups.flatMap(({ by }) => by),
      ({ kind, record_type, operation }) => `${kind} ${record_type} ${operation}`,
    ),
    fields: mergeFields(groups.flatMap(({ fields = [] }) => fields)),
    proposed: sumBy(
      groups.flatMap(({ proposed = [] }) => proposed),
      ({ token_id, name }) => `${token_id} ${name}`,
    ),
    first: groups.at(-1)?.first_at ?? '',
    last: groups[0]?.last_at ?? '',
    undone: groups.reduce((sum, { undone }) => sum + undone, 0),
    isUndone: groups.every(({ undone_by }) => undone_by !== null),
  }
}

function sumBy<T extends { count: number }>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const sums = new Map<string, T>()
  for (const item of items) {
    const known = sums.get(keyOf(item))
    sums.set(keyOf(item), known ? { ...known, count: known.count + item.count } : item)
  }
  return [...sums.values()].sort((a, b) => b.count - a.count)
}

/** The fields of all, the most frequent first. A value stays where all share it. */
function mergeFields(fields: readonly ChangedField[]): ChangedField[] {
  const merged = new Map<string, ChangedField>()
  for (const field of fields) {
    const key = `${field.record_type} ${field.path}`
    const known = merged.get(key)
    merged.set(key, known ? shared(known, field) : field)
  }
  return [...merged.values()].sort((a, b) => b.count - a.count)
}

function shared(a: ChangedField, b: ChangedField): ChangedField {
  const { record_type, path } = a
  const isSame = (side: 'from' | 'to') =>
    Object.hasOwn(a, side) && Object.hasOwn(b, side) && JSON.stringify(a[side]) === JSON.stringify(b[side])
  return {
    record_type,
    path,
    count: a.count + b.count,
    ...(isSame('from') && { from: a.from ?? null }),
    ...(isSame('to') && { to: a.to ?? null }),
  }
}

export type Part = 'hour' | 'noon' | 'morning' | 'yesterday' | number

/** The part of the day that a time is in; days before yesterday by their midnight. */
export function partOf(at: string, now: number): Part {
  const ms = Date.parse(at)
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  if (now - ms < 60 * 60_000) return 'hour'
  if (ms >= midnight) return ms >= midnight + 12 * 60 * 60_000 ? 'noon' : 'morning'
  const day = new Date(ms).setHours(0, 0, 0, 0)
  return day === new Date(midnight - 1).setHours(0, 0, 0, 0) ? 'yesterday' : day
}
