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
  readonly before: object | null
  readonly after: object | null
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
  conflict: Pick<Conflict, 'production' | 'preview'> | null
  rolled_back: boolean
}

const STORE = statement(
  'store_promotion_edits',
  `INSERT INTO plinth.promotion_edit (base_id, promotion_id, position, kind, id, before, after, origin, conflict)
   SELECT $1, $2, e.position, e.kind, e.id, e.before::json, e.after::json, e.origin::json, e.conflict::json
   FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
     AS e (position, kind, id, before, after, origin, conflict)`,
)
const READ = statement(
  'promotion_edits',
  `SELECT promotion_id, kind, id, before, after, origin, conflict, rolled_back FROM plinth.promotion_edit
   WHERE base_id = $1 AND promotion_id = ANY ($2::text[]) ORDER BY promotion_id, position`,
)

type Texts = { before: string | null; after: string | null; origin: string | null; conflict: string | null }

/** The edits as JSON, in short turns. `length` counts their characters. */
export async function textsOf({
  edits,
  conflicts,
  drafts = [],
}: PromotionEdits): Promise<(Texts & { length: number })[]> {
  const overridden = new Map(conflicts.map((each) => [`${each.kind} ${each.id}`, each]))
  const texts: (Texts & { length: number })[] = []
  const all = [...edits.map((edit) => ({ ...edit, kind: edit.kind.name })), ...drafts]
  for (const { kind, id, before, after, ...more } of all) {
    if (turnIsOver()) await nextTurn()
    const origin = 'origin' in more ? more.origin : undefined
    const conflict = overridden.get(`${kind} ${id}`)
    const text: Texts = {
      before: textOf(before),
      after: textOf(after),
      origin: textOf(origin),
      conflict: textOf(conflict && { production: conflict.production, preview: conflict.preview }),
    }
    const length = Object.values(text).reduce((sum, each) => sum + (each?.length ?? 0), 0)
    texts.push({ ...text, length })
  }
  return texts
}

const textOf = (value: object | null | undefined): string | null =>
  value == null ? null : JSON.stringify(value)

/** Stores the edits of a promotion. */
export async function storeEdits(
  db: Db,
  { baseId, id }: { readonly baseId: string; readonly id: string },
  { edits, drafts = [] }: PromotionEdits,
  texts: readonly (Texts & { length: number })[],
): Promise<void> {
  const all = [...edits.map(({ kind, id: of }) => ({ kind: kind.name, id: of })), ...drafts]
  for (const { from, to } of partsOf(texts)) {
    const [part, written] = [all.slice(from, to), texts.slice(from, to)]
    await db.query(STORE, [
      baseId,
      id,
      part.map((_, n) => from + n),
      part.map(({ kind }) => kind),
      part.map((each) => each.id),
      written.map(({ before }) => before),
      written.map(({ after }) => after),
      written.map(({ origin }) => origin),
      written.map(({ conflict }) => conflict),
    ])
  }
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
    if (isDraft(kind)) past?.drafts.push({ kind, ...edit })
    else past?.edits.push({ kind: kindNamed(kind), ...edit, ...(origin && { origin }) })
    if (conflict) past?.conflicts.push({ kind, id: sides.id, ...conflict })
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
