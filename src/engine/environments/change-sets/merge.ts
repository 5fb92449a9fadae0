/** Three-way merge of drafts: what changed in the change-set and in production since the first touch, by field. */
import { isDeepStrictEqual } from 'node:util'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import { diffOf } from '../../log/diff.ts'
import type { Conflict } from '../three-way.ts'
import { type Document, type Draft, nameOf } from './drafts.ts'

type ConflictCode = 'same_field' | 'update_delete' | 'delete_update' | 'create_create'

/** What both sides changed, each in its own way. */
export type DraftConflict = Conflict & {
  readonly code: ConflictCode
  /** `/deal/d1/data/amount`. */
  readonly path: string
  readonly message: string
  /** What there is at the path, null for nothing: once, now here, and now in production. */
  readonly values: Values
}

/** How a conflict ends: with the value of the change-set, with that of production, or with another one. */
export type Resolution =
  | { readonly take: 'preview' | 'production' }
  | { readonly take: 'value'; readonly value: unknown }

/** Asks how a conflict at a path ends; undefined where nobody has said. */
type Resolve = (draft: Draft, field: string) => Resolution | undefined

/** What is said of the drafts of a promotion. */
export type Resolutions = {
  readonly of: Resolve
  /** What a draft makes of production, with what is said of fields that do not conflict: production may refuse them. */
  settle(draft: Draft, after: Document | null): Document | null
  /** Whether the deletion of a record may take with it what the change-set does not delete. */
  mayGrow(draft: Pick<Draft, 'kind' | 'type' | 'id'>): boolean
}

/** What a draft makes of production: `before` is that of now. */
export type Merged = {
  readonly draft: Draft
  readonly before: Document | null
  readonly after: Document | null
}

type Merging = { readonly merged: Merged[]; readonly conflicts: DraftConflict[] }

/** Merges drafts. Those in conflict without a resolution are listed, and not merged. */
export async function mergeDrafts(
  drafts: readonly Draft[],
  { of: resolve, settle }: Resolutions,
): Promise<Merging> {
  const merged: Merged[] = []
  const conflicts: DraftConflict[] = []
  for (const draft of drafts) {
    if (turnIsOver()) await nextTurn()
    const { preview, production } = draft
    const found: DraftConflict[] = []
    const whole = (code: ConflictCode): Document | null => {
      const resolution = resolve(draft, '')
      if (!resolution) found.push(conflictOf(draft, code, '', draft))
      return resolution?.take === 'production' ? production : preview
    }
    const after = mergeOne(draft, whole, (field, values) => {
      const resolution = resolve(draft, field) ?? resolve(draft, '')
      if (!resolution) found.push(conflictOf(draft, 'same_field', field, values))
      if (resolution?.take === 'value') return resolution.value
      return resolution?.take === 'production' ? values.production : values.preview
    })
    if (found.length > 0) conflicts.push(...found)
    else merged.push({ draft, before: production, after: settle(draft, after) })
  }
  return { merged, conflicts }
}

type Values = { readonly base: unknown; readonly preview: unknown; readonly production: unknown }

function mergeOne(
  { base, preview, production }: Draft,
  whole: (code: ConflictCode) => Document | null,
  onField: (field: string, values: Values) => unknown,
): Document | null {
  if (production === base) return preview
  if (isDeepStrictEqual(preview, production)) return production
  if (base === null) return production === null ? preview : whole('create_create')
  if (preview === null) return isDeepStrictEqual(production, base) ? null : whole('delete_update')
  if (production === null) return whole('update_delete')
  return mergeValues(base, preview, production, '', onField) as Document
}

/** Objects are merged by member, lists and all else whole. Undefined is a member that is not there. */
function mergeValues(
  base: unknown,
  preview: unknown,
  production: unknown,
  at: string,
  onField: (field: string, values: Values) => unknown,
): unknown {
  if (isDeepStrictEqual(preview, production) || isDeepStrictEqual(preview, base)) return production
  if (isDeepStrictEqual(production, base)) return preview
  if (!isObject(base) || !isObject(preview) || !isObject(production))
    return onField(at, { base, preview, production })
  const members = [...new Set([...Object.keys(production), ...Object.keys(preview)])]
  return Object.fromEntries(
    members.flatMap((name) => {
      const own = (value: Record<string, unknown>) => (Object.hasOwn(value, name) ? value[name] : undefined)
      const value = mergeValues(own(base), own(preview), own(production), `${at}${pointer(name)}`, onField)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const MESSAGES: Readonly<Record<ConflictCode, string>> = {
  same_field: 'was changed in production too, in another way',
  update_delete: 'was deleted in production',
  delete_update: 'was changed in production since it was deleted here',
  create_create: 'was created in production too',
}

const conflictOf = (
  draft: Draft,
  code: ConflictCode,
  field: string,
  { base, preview, production }: Values,
): DraftConflict => ({
  ...{ kind: draft.kind, id: nameOf(draft), code, path: `/${nameOf(draft)}${field}` },
  message: `${nameOf(draft)}${field && ` ${field}`} ${MESSAGES[code]}. Send resolve with take ${field ? '"preview", "production" or "value"' : '"preview" or "production"'}.`,
  production: diffOf(draft.base, draft.production),
  preview: diffOf(draft.base, draft.preview),
  values: { base: base ?? null, preview: preview ?? null, production: production ?? null },
})
