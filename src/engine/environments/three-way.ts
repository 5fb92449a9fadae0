/** Three-way comparison: the preview's changes since the fork, against production now. */

import { camelFields } from '../../contract/field-names.ts'
import { mapInTurns, nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Definition, definitionOf } from '../configuration/lifecycle/definition.ts'
import { partsOf } from '../core/append-change.ts'
import { type DiffStep, diffOf } from '../log/diff.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { type Edit, isSame, type Kept } from './edits.ts'
import type { Definitions, Snapshot } from './snapshot.ts'

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
      const isConflict = !isSame(live, forked)
      if (isConflict)
        conflicts.push({
          ...{ kind: kind.name, id },
          ...{ production: diffOf(forked, live), preview: diffOf(forked, previewed) },
        })
      edits.push({ kind, id, before: live, after: previewed, ...(isConflict && { fork: forked }) })
    }
  }
  return { edits, conflicts, forkPoints, kept }
}

// The fork of a preview: the configuration that its changes, and those of production, are measured from.

const READ = statement('read_fork', 'SELECT id, definition FROM plinth.fork WHERE base_id = $1 AND kind = $2')
const DROP = statement(
  'drop_fork',
  'DELETE FROM plinth.fork WHERE base_id = $1 AND kind = $2 AND id = ANY ($3::text[])',
)
const MOVE = statement(
  'move_fork',
  `INSERT INTO plinth.fork (base_id, kind, id, definition)
   SELECT $1, $2, f.id, f.definition::json FROM unnest($3::text[], $4::text[]) AS f (id, definition)
   ON CONFLICT (base_id, kind, id) DO UPDATE SET definition = excluded.definition`,
)

/** Reads the fork of a preview. Fields that were added to a kind since have their defaults. */
export async function readFork(db: Db, previewId: string): Promise<Snapshot> {
  const fork = new Map<string, Definitions>()
  for (const kind of KINDS) {
    const rows = await db.query<{ id: string; definition: object }>(READ, [previewId, kind.name])
    const definitions = new Map<string, Definition>()
    for (const { id, definition } of rows) {
      if (turnIsOver()) await nextTurn()
      definitions.set(id, definitionOf(kind, { ...kind.defaults(id), ...camelFields(definition) }))
    }
    fork.set(kind.name, definitions)
  }
  return fork
}

/** The definition that a resource has at the fork from now on; null for an absent one. */
type ForkPoint = { readonly kind: string; readonly id: string; readonly definition: Definition | null }

/** Moves the fork of a preview for some resources. */
export async function moveFork(db: Db, previewId: string, points: readonly ForkPoint[]): Promise<void> {
  for (const { name } of KINDS) {
    const own = points.filter(({ kind }) => kind === name)
    const gone = own.filter(({ definition }) => definition === null).map(({ id }) => id)
    const kept = own.filter(({ definition }) => definition !== null)
    if (gone.length > 0) await db.query(DROP, [previewId, name, gone])
    const texts = await mapInTurns(kept, ({ definition }) => JSON.stringify(definition))
    for (const { from, to } of partsOf(texts)) {
      const ids = kept.slice(from, to).map(({ id }) => id)
      await db.query(MOVE, [previewId, name, ids, texts.slice(from, to)])
    }
  }
}
