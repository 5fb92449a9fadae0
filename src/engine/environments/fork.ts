/** The fork of a preview: the configuration that its changes, and those of production, are measured from. */
import { camelFields } from '../../contract/field-names.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Definition, definitionOf } from '../configuration/lifecycle/definition.ts'
import { partsOf } from '../core/append-change.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { Definitions, Snapshot } from './snapshot.ts'

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
export type ForkPoint = { readonly kind: string; readonly id: string; readonly definition: Definition | null }

/** Moves the fork of a preview for some resources. */
export async function moveFork(db: Db, previewId: string, points: readonly ForkPoint[]): Promise<void> {
  for (const { name } of KINDS) {
    const own = points.filter(({ kind }) => kind === name)
    const gone = own.filter(({ definition }) => definition === null).map(({ id }) => id)
    const kept = own.filter(({ definition }) => definition !== null)
    if (gone.length > 0) await db.query(DROP, [previewId, name, gone])
    const texts: string[] = []
    for (const { definition } of kept) {
      if (turnIsOver()) await nextTurn()
      texts.push(JSON.stringify(definition))
    }
    for (const { from, to } of partsOf(texts)) {
      const ids = kept.slice(from, to).map(({ id }) => id)
      await db.query(MOVE, [previewId, name, ids, texts.slice(from, to)])
    }
  }
}
