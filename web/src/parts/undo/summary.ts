/** The plan of an undo in numbers: fields and the values that they get back. */
import type { Json, UndoItem, UndoPlan } from '../../api/shapes.ts'
import { changesOf } from '../diff.tsx'

/** A field that goes back, with the values before the undo and after it, the most frequent first. */
export type FieldUndo = { name: string; count: number; from: ValueCount[]; to: ValueCount[] }
export type ValueCount = { value: Json | undefined; count: number }

const MOST_FIELDS = 8
const MOST_VALUES = 4

export function fieldsOfPlan(items: readonly UndoItem[]): FieldUndo[] {
  const fields = new Map<
    string,
    { count: number; from: Map<string, ValueCount>; to: Map<string, ValueCount> }
  >()
  for (const { diff = [] } of items)
    for (const { name, from, to } of changesOf(diff)) {
      const field = fields.get(name) ?? { count: 0, from: new Map(), to: new Map() }
      fields.set(name, field)
      field.count++
      count(field.from, from)
      count(field.to, to)
    }
  return [...fields.entries()]
    .map(([name, { count: total, from, to }]) => ({ name, count: total, from: most(from), to: most(to) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_FIELDS)
}

function count(values: Map<string, ValueCount>, value: Json | undefined): void {
  const key = JSON.stringify(value ?? null)
  values.set(key, { value, count: (values.get(key)?.count ?? 0) + 1 })
}

const most = (values: Map<string, ValueCount>): ValueCount[] =>
  [...values.values()].sort((a, b) => b.count - a.count).slice(0, MOST_VALUES)

/** Whether a plan differs from the one that the person saw. */
export const isOther = (seen: UndoPlan, now: UndoPlan): boolean =>
  seen.count !== now.count ||
  seen.skipped.length !== now.skipped.length ||
  seen.also.length !== now.also.length ||
  seen.data.some(({ reverts }, at) => now.data[at]?.reverts !== reverts)

/** The later changes that are in the way, or that are taken back too. */
export const laterOf = ({ skipped, also }: UndoPlan): number[] => [
  ...skipped.flatMap(({ overtaken_by: seq }) => seq ?? []),
  ...also.map(({ reverts }) => reverts),
]
