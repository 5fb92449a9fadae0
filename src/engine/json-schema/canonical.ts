import { spend } from './evaluation-cost.ts'

/** Canonical JSON: equal values have equal text, with sorted keys. */
export function canonical(value: unknown): string {
  spend(15)
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value)
    spend(text.length / 8)
    return text
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  spend(members.length * 35)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}

/** The indexes of the first item that equals an earlier one (`uniqueItems`). */
export function repeatedItem(items: readonly unknown[]): [first: number, second: number] | undefined {
  const places = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    const text = canonical(item)
    spend(20 + text.length / 4)
    const first = places.get(text)
    if (first !== undefined) return [first, i]
    places.set(text, i)
  }
  return undefined
}
