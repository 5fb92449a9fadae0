import { readFileSync, writeFileSync } from 'node:fs'
import type { Measured } from './measure.ts'

/** Ratios to the floor by work: they hold across machines, as requests a second do not. */
type Baseline = Record<string, number>

const FILE = new URL('./baseline.json', import.meta.url)
const LARGEST_FALL = 0.2

function readBaseline(): Baseline {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Keeps the ratios; works that were not measured keep theirs. */
export function updateBaseline(results: readonly Measured[]): void {
  const measured = results.map(({ name, ratio }) => [name, Math.round(ratio * 100) / 100])
  writeFileSync(FILE, `${JSON.stringify({ ...readBaseline(), ...Object.fromEntries(measured) }, null, 2)}\n`)
}

/** A line for each ratio that fell too far. */
export function fallen(results: readonly Measured[]): string[] {
  const baseline = readBaseline()
  return results.flatMap(({ name, ratio }) => {
    const before = baseline[name]
    if (before === undefined || ratio >= before * (1 - LARGEST_FALL)) return []
    const percent = Math.round((1 - ratio / before) * 100)
    return [
      `"${name}" fell by ${percent} %: ${ratio.toFixed(2)} of the floor, ${before.toFixed(2)} in the baseline.`,
    ]
  })
}
