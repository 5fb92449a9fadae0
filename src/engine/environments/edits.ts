/** Differences between two configurations. */
import { digest } from '../../contract/canonical-hash.ts'
import { camelFields } from '../../contract/field-names.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { pointer } from '../../json/parse.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import { findType } from '../core/load-type.ts'
import type { Scope } from '../core/scope.ts'
import { type DiffStep, diffOf, withBefore } from '../log/diff.ts'
import { titleIn } from '../records/titles.ts'
import type { Snapshot } from './snapshot.ts'

/** A difference of one resource; null where it is absent. */
export type Edit = {
  readonly kind: Kind
  readonly id: string
  readonly before: Definition | null
  readonly after: Definition | null
}
/** An edit as surfaces show it, with an RFC 6902 diff. */
export type ShownEdit = {
  kind: string
  id: string
  op: 'create' | 'update' | 'delete'
  /** Of a record: what a reader knows it by. */
  title?: string
  diff: readonly DiffStep[]
  /** Of a promotion: taken back since. */
  rolled_back?: true
}

export const isSame = (one: Definition | null, other: Definition | null): boolean =>
  one === null || other === null ? one === other : digest(one) === digest(other)

/** The edits that turn `before` into `after`, by kind in the order of references, then by id. */
export async function editsBetween(before: Snapshot, after: Snapshot): Promise<Edit[]> {
  const edits: Edit[] = []
  for (const kind of KINDS) {
    const [was, is] = [before.get(kind.name), after.get(kind.name)]
    for (const id of [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].sort()) {
      if (turnIsOver()) await nextTurn()
      const edit = { kind, id, before: was?.get(id) ?? null, after: is?.get(id) ?? null }
      if (!isSame(edit.before, edit.after)) edits.push(edit)
    }
  }
  return edits
}

/** An edit with its diff, whose steps have the values that they replace. */
export function shown({ kind, id, before, after }: Edit): ShownEdit {
  const diff = diffOf(before, after && { ...after, ...hiddenOf(kind, after) })
  return {
    kind: kind.name,
    id,
    op: before === null ? 'create' : after === null ? 'delete' : 'update',
    diff: (before ? withBefore(diff, before) : diff).concat(
      before && after ? Object.keys(hiddenOf(kind, after)).map(replacedSecret) : [],
    ),
  }
}

/** What a draft of a change-set changes in production. Of a record, its title, or else the id that it has elsewhere. */
export async function shownDraft(
  scope: Scope,
  baseId: string,
  { kind, id, before, after }: Pick<ShownEdit, 'kind' | 'id'> & { before: Draft; after: Draft },
): Promise<ShownEdit> {
  const diff = diffOf(before, after)
  const op = before === null ? 'create' : after === null ? 'delete' : 'update'
  const of = before ?? after
  const type = kind === 'record' ? await findType(scope, baseId, id.slice(0, id.indexOf('/'))) : undefined
  const title = type && (titleIn(of?.data, type.title) ?? of?.external_id)
  return { kind, id, op, ...(title && { title }), diff: before ? withBefore(diff, before) : diff }
}
type Draft = { readonly data?: unknown; readonly external_id?: string | null } | null

/** The secrets that a definition sets, hidden. */
const hiddenOf = (kind: Kind, definition: Definition): Definition =>
  Object.fromEntries(Object.keys(secretsSetBy(kind, definition)).map((name) => [name, REDACTED]))

const replacedSecret = (name: string): DiffStep => ({ op: 'replace', path: pointer(name), value: REDACTED })

/** How many resources the edits create, update and delete. */
export function summaryOf(edits: readonly ShownEdit[]): Record<ShownEdit['op'], number> {
  const count = (op: ShownEdit['op']) => edits.filter((edit) => edit.op === op).length
  return { create: count('create'), update: count('update'), delete: count('delete') }
}

/**
 * The fields that an edit stores; null for a deletion.
 * @throws VALIDATION_ERROR with every fault of the shape
 */
export const nextOf = ({ kind, id, after }: Edit): object | null =>
  after && readFields({ kind, id }, camelFields(after), null)

/** A resource that is deleted only with `prune`. */
export type Kept = { readonly kind: string; readonly id: string }

/** The parts of an answer that are not empty. */
export const nonEmpty = <P extends Readonly<Record<string, object>>>(parts: P): Partial<P> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) as Partial<P>
