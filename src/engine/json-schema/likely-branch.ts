import type { Fault, Faults } from './evaluation.ts'

/**
 * Selects the faults to report when no branch of a choice is valid: those of the most likely branch, if one
 * stands out.
 */
export function meant(choice: Fault, branches: readonly Faults[]): Fault[] {
  const failed = branches.map(({ list }) => list)
  const merged = merge(choice, failed)
  if (merged) return [merged]
  const likely = failed.filter((faults) => !faults.some((fault) => rulesOut(fault, choice)))
  const fewest = likely.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY)
  const best = likely.filter(({ length }) => length === fewest)
  return best.length === 1 ? (best[0] ?? []) : [choice]
}

/** Whether a fault excludes the branch: another type, or another value of the discriminator. */
function rulesOut({ keyword, path }: Fault, choice: Fault): boolean {
  const below = path.slice(choice.path.length)
  if (below === '') return ['type', 'const', 'enum', 'false schema'].includes(keyword)
  return ['const', 'enum'].includes(keyword) && !below.slice(1).includes('/')
}

/** Merges alternatives that differ only in type or only in value into one fault. */
function merge(choice: Fault, failed: readonly Fault[][]): Fault | undefined {
  const faults = failed.flatMap((each) => (each.length === 1 ? each : []))
  if (faults.length < failed.length) return undefined
  if (faults.some(({ path }) => path !== choice.path)) return undefined
  if (faults.every(({ keyword }) => keyword === 'type')) {
    const types = [...new Set(faults.flatMap(({ schema }) => schema as string | string[]))]
    return { ...choice, keyword: 'type', schema: types }
  }
  if (faults.every(({ keyword }) => keyword === 'const' || keyword === 'enum')) {
    const values = faults.flatMap(({ keyword, schema }) =>
      keyword === 'enum' ? (schema as unknown[]) : [schema],
    )
    return { ...choice, keyword: 'enum', schema: values }
  }
  return undefined
}
