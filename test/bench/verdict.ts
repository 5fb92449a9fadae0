/** Whether a run passes: its ratios against the goals and against those of an earlier run. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Measured } from './measure.ts'
import type { Moment } from './moments.ts'

/** Ratios to the floor by work: they hold across machines, as times do not. */
type Baseline = Record<string, number>

const FILE = new URL('./baseline.json', import.meta.url)
const LARGEST_RISE = 1.15
/** With more of the machine in other hands, a ratio says as much about them. */
export const MOST_FOREIGN = 0.1

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
  const measured = results.map(({ work, ratio }) => [work.key, Math.round(ratio * 100) / 100])
  writeFileSync(FILE, `${JSON.stringify({ ...readBaseline(), ...Object.fromEntries(measured) }, null, 2)}\n`)
}

/** A line for each ratio above its goal, and for each that rose too far. */
export function failures(results: readonly Measured[], moments: readonly Moment[]): string[] {
  const baseline = readBaseline()
  const works = results.flatMap(({ work: { key, name, must }, ratio }) => {
    const before = baseline[key]
    return [
      must !== undefined && ratio > must
        ? `"${name}" takes ${ratio.toFixed(2)} of the floor's processor time, and must take ${must} at most.`
        : [],
      before !== undefined && ratio > before * LARGEST_RISE
        ? `"${name}" rose to ${ratio.toFixed(2)} of the floor's processor time, from ${before.toFixed(2)} in the baseline.`
        : [],
    ].flat()
  })
  const felt = moments.flatMap(({ name, value, must }) =>
    must && must.is > must.most ? [`"${name}" is ${value}, and must be ${must.most} at most.`] : [],
  )
  return [...works, ...felt]
}
