import type { Step } from './plan-steps.ts'

/** Steps that do not depend on each other's order, by what they do. */
export type Wave = {
  deletions: Step[]
  updates: Step[]
  restorations: Step[]
  /** Changes of configuration, each of another resource, or one of a file. They are alone. */
  configuration: Step[]
}

const open = (): Wave => ({ deletions: [], updates: [], restorations: [], configuration: [] })
const PART = { delete: 'deletions', update: 'updates', restore: 'restorations' } as const

/**
 * Divides steps, newest first, into waves. Within a run of deletions, or of restorations, the order does not
 * matter: at one end of the run all of them exist at the same time. Updates commute with everything but steps
 * on the same resource, unless they compete for unique values. Consecutive ones of a record stay together, in
 * order. What the revert of a migration takes back has no step of its own. Changes of configuration that follow each other
 * are reverted together, as one request may have made them.
 */
export function schedule(
  newestFirst: readonly Step[],
  nameOf: (step: Step) => string,
  competes: (step: Step) => boolean,
): Wave[] {
  const waves: Wave[] = []
  const lastOf = new Map<string, { wave: number; isFree: boolean }>()
  /** The run of steps that may not mix with others: their class, and its first wave. */
  let run = { kind: '', from: 0 }
  /** The last wave, while more changes of configuration can be reverted in it, and what the last of them does. */
  let group: { steps: Step[]; act: Step['act']['kind'] } | undefined
  let floor = 0
  for (const step of newestFirst) {
    if (step.act.kind === 'migrate') continue
    const name = nameOf(step)
    const isConfiguration = !['record', 'relationship'].includes(step.change.kind)
    const last = lastOf.get(name)
    // What a deletion took may have been named again since, so it comes back after all that came later.
    const isNext = step.act.kind !== 'restore' || group?.act === 'restore'
    if (group && isResource(step) && isNext && last?.wave !== waves.length - 1) {
      group.steps.push(step)
      group.act = step.act.kind
      lastOf.set(name, { wave: waves.length - 1, isFree: false })
      continue
    }
    group = undefined
    const isFree = step.act.kind === 'update' && !isConfiguration && !competes(step)
    const kind = isConfiguration ? name : step.act.kind
    if (!isFree && run.kind !== kind) run = { kind, from: waves.length }
    const staysTogether = isFree && last?.isFree && step.change.kind === 'record'
    const next = last ? last.wave + (staysTogether ? 0 : 1) : 0
    const wave = Math.max(isFree ? floor : run.from, next, floor)
    while (waves.length <= wave) waves.push(open())
    waves[wave]?.[isConfiguration ? 'configuration' : PART[step.act.kind]].push(step)
    lastOf.set(name, { wave, isFree })
    if (isConfiguration) floor = waves.length
    const steps = isResource(step) && waves[wave]?.configuration
    if (steps) group = { steps, act: step.act.kind }
  }
  return waves
}

const isResource = ({ change: { kind } }: Step): boolean => !['record', 'relationship', 'file'].includes(kind)
