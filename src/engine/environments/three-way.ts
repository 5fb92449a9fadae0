/** Three-way comparison: the preview's changes since the fork, against production now. */
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type DiffStep, diffOf } from '../log/diff.ts'
import { type Edit, isSame, type Kept } from './edits.ts'
import type { ForkPoint } from './fork.ts'
import type { Snapshot } from './snapshot.ts'

/** A resource that both sides changed, each in its own way. */
export type Conflict = {
  kind: string
  id: string
  production: readonly DiffStep[]
  preview: readonly DiffStep[]
}
export type Comparison = {
  readonly edits: readonly Edit[]
  readonly conflicts: readonly Conflict[]
  /** Where the fork is once the edits are applied. */
  readonly forkPoints: readonly ForkPoint[]
  /** What the preview deleted, and stays without `prune`. */
  readonly kept: readonly Kept[]
}
type Sides = { fork: Snapshot; preview: Snapshot; production: Snapshot }

/**
 * Finds what promoting the preview changes in production. What only production changed stays. The same change
 * on both sides is no change. Deletions count with `prune` only.
 * @param isNamed selects the resources to promote
 */
export async function compareSides(
  { fork, preview, production }: Sides,
  prune: boolean,
  isNamed: (kind: string, id: string) => boolean,
): Promise<Comparison> {
  const edits: Edit[] = []
  const conflicts: Conflict[] = []
  const forkPoints: ForkPoint[] = []
  const kept: Kept[] = []
  for (const kind of KINDS) {
    const of = (side: Snapshot) => side.get(kind.name) ?? new Map<string, never>()
    const ids = new Set([fork, preview, production].flatMap((side) => [...of(side).keys()]))
    for (const id of [...ids].sort()) {
      if (turnIsOver()) await nextTurn()
      const at = (side: Snapshot) => of(side).get(id) ?? null
      const [forked, previewed, live] = [at(fork), at(preview), at(production)]
      if (!isNamed(kind.name, id) || isSame(previewed, forked)) continue
      if (previewed === null && live !== null && !prune) {
        kept.push({ kind: kind.name, id })
        continue
      }
      forkPoints.push({ kind: kind.name, id, definition: previewed })
      if (isSame(previewed, live)) continue
      if (!isSame(live, forked))
        conflicts.push({
          ...{ kind: kind.name, id },
          ...{ production: diffOf(forked, live), preview: diffOf(forked, previewed) },
        })
      edits.push({ kind, id, before: live, after: previewed })
    }
  }
  return { edits, conflicts, forkPoints, kept }
}
