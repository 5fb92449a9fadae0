/** The edits of promotions as they are stored: a row each, so that neither statement nor turn grows with their number. */
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS, kindNamed } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { stepsOfIds } from '../configuration/lifecycle/read-in-steps.ts'
import { partsOf } from '../core/append-change.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { Edit } from './edits.ts'
import type { Conflict } from './three-way.ts'

/** An edit in the history. `origin`: what the log says of the resource beyond its definition. */
export type PromotionEdit = Edit & { readonly origin?: object; readonly rolledBack?: boolean }
/** What a change-set changed: a record, named `<type>/<id>`, or a relationship. */
export type StoredDraft = {
  readonly kind: 'record' | 'relationship'
  readonly id: string
  readonly before: Definition | null
  readonly after: Definition | null
  readonly rolledBack?: boolean
}
/** The edits of a promotion, and the conflicts that were overridden. */
export type PromotionEdits = {
  /** Of a change-set. */
  readonly drafts?: readonly StoredDraft[]
  readonly edits: readonly PromotionEdit[]
  readonly conflicts: readonly Conflict[]
}

type Row = {
  promotion_id: string
  kind: string
  id: string
  before: Definition | null
  after: Definition | null
  origin: object | null
  conflict: (Pick<Conflict, 'production' | 'preview'> & { readonly fork?: Definition | null }) | null
  rolled_back: boolean
}

const STORE = statement(
  'store_promotion_edits',
  `INSERT INTO plinth.promotion_edit (base_id, promotion_id, position, kind, id, before, after, origin, conflict)
   SELECT $1, $2, $3::int + e.n - 1, e.kind, e.id, e.before, e.after, e.origin, e.conflict
   FROM ROWS FROM (json_to_recordset($4::json) AS (kind text, id text, before json, after json, origin json, conflict json))
     WITH ORDINALITY AS e (kind, id, before, after, origin, conflict, n)`,
)
const READ = statement(
  'promotion_edits',
  `SELECT promotion_id, kind, id, before, after, origin, conflict, rolled_back FROM plinth.promotion_edit
   WHERE base_id = $1 AND promotion_id = ANY ($2::text[]) ORDER BY promotion_id, position`,
)

/** The edits as JSON, a text each, in short turns. */
export async function textsOf({ edits, conflicts, drafts = [] }: PromotionEdits): Promise<string[]> {
  const overridden = new Map(conflicts.map((each) => [`${each.kind} ${each.id}`, each]))
  const texts: string[] = []
  const all = [...edits.map((edit) => ({ ...edit, kind: edit.kind.name })), ...drafts]
  for (const { kind, id, before, after, ...more } of all) {
    if (turnIsOver()) await nextTurn()
    const origin = 'origin' in more ? more.origin : undefined
    const found = overridden.get(`${kind} ${id}`)
    const fork = 'fork' in more ? more.fork : undefined
    const conflict = found && { production: found.production, preview: found.preview, fork }
    texts.push(JSON.stringify({ kind, id, before, after, origin, conflict }))
  }
  return texts
}

/** Stores the edits of a promotion, as the texts of them. */
export async function storeEdits(
  db: Db,
  { baseId, id }: { readonly baseId: string; readonly id: string },
  texts: readonly string[],
): Promise<void> {
  for (const { from, to } of partsOf(texts))
    await db.query(STORE, [baseId, id, from, `[${texts.slice(from, to).join(',')}]`])
}

/** Reads the edits of promotions, by the id of the promotion. The driver decodes each row as it arrives. */
export async function readEdits(
  db: Db,
  baseId: string,
  promotions: readonly string[],
): Promise<ReadonlyMap<string, PromotionEdits>> {
  const rows = promotions.length > 0 ? await db.query<Row>(READ, [baseId, promotions]) : []
  const found = new Map(
    promotions.map((id) => [
      id,
      { edits: [] as PromotionEdit[], conflicts: [] as Conflict[], drafts: [] as StoredDraft[] },
    ]),
  )
  for (const { promotion_id, kind, origin, conflict, rolled_back: rolledBack, ...sides } of rows) {
    const past = found.get(promotion_id)
    const edit = { ...sides, ...(rolledBack && { rolledBack }) }
    const { fork, ...diffs } = conflict ?? { production: [], preview: [] }
    const more = { ...(origin && { origin }), ...(fork !== undefined && { fork }) }
    if (isDraft(kind)) past?.drafts.push({ kind, ...edit })
    else past?.edits.push({ kind: kindNamed(kind), ...edit, ...more })
    if (conflict) past?.conflicts.push({ kind, id: sides.id, ...diffs })
  }
  return found
}

const isDraft = (kind: string): kind is StoredDraft['kind'] => kind === 'record' || kind === 'relationship'

/** Adds to each created or deleted resource what its row has beyond its definition. */
export async function withOrigins(
  db: Db,
  baseId: string,
  from: string,
  edits: readonly Edit[],
): Promise<PromotionEdit[]> {
  const origins = new Map<Edit, object>()
  for (const kind of KINDS.filter(({ logged }) => logged)) {
    for (const [side, isOf] of [
      [from, ({ before }: Edit) => before === null],
      [baseId, ({ after }: Edit) => after === null],
    ] as const) {
      const own = edits.filter((edit) => edit.kind === kind && isOf(edit))
      if (own.length === 0) continue
      const byId = new Map(own.map((edit) => [edit.id, edit]))
      for await (const rows of stepsOfIds(kind, db, side, [...byId.keys()]))
        for (const row of rows) {
          const edit = byId.get(row.id)
          if (edit) origins.set(edit, kind.logged?.(row) ?? {})
        }
    }
  }
  return edits.map((edit) => {
    const origin = origins.get(edit)
    return origin ? { ...edit, origin } : edit
  })
}
