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
import { titleIn, titlesOf } from '../records/titles.ts'
import type { Snapshot } from './snapshot.ts'

/** A difference of one resource; null where it is absent. */
export type Edit = {
  readonly kind: Kind
  readonly id: string
  readonly before: Definition | null
  readonly after: Definition | null
  /** Of a conflict: the fork, which is neither of the two. */
  readonly fork?: Definition | null
}
/** An edit as surfaces show it, with an RFC 6902 diff. */
export type ShownEdit = {
  kind: string
  id: string
  op: 'create' | 'update' | 'delete'
  /** Of a record or relationship: what a reader knows it by. */
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

/**
 * What drafts of a change-set change in production, with titles: of a record its own, or else the id that it has elsewhere, of a
 * relationship its type and its ends.
 */
export async function shownDrafts(
  scope: Scope,
  baseId: string,
  drafts: readonly DraftedEdit[],
): Promise<ShownEdit[]> {
  const titles = new Map<string, unknown>()
  const records = drafts.filter(({ kind }) => kind === 'record')
  for (const [recordType, ofType] of Map.groupBy(records, ({ id }) => recordOf(id).recordType)) {
    const type = await findType(scope, baseId, recordType)
    for (const { id, before, after } of ofType) {
      const of = before ?? after
      titles.set(id, type && (titleIn(of?.['data'], type.title) ?? of?.['external_id']))
    }
  }
  const ends = [...new Set(drafts.flatMap(endsOf))].filter((end) => !titles.has(end))
  const read = await titlesOf(scope, baseId, ends.map(recordOf))
  for (const [n, end] of ends.entries()) titles.set(end, read[n])
  const changes: ShownEdit[] = []
  for (const draft of drafts) {
    if (turnIsOver()) await nextTurn()
    const { kind, id, before, after } = draft
    const [source, target] = endsOf(draft).map((end) => titles.get(end) ?? end)
    const title = source ? `${(before ?? after)?.['rel_type']}: ${source} → ${target}` : titles.get(id)
    const diff = diffOf(before, after)
    const op = before === null ? 'create' : after === null ? 'delete' : 'update'
    changes.push({
      kind,
      id,
      op,
      ...(typeof title === 'string' && { title }),
      diff: before ? withBefore(diff, before) : diff,
    })
  }
  return changes
}

type DraftedEdit = Pick<ShownEdit, 'kind' | 'id'> & { readonly before: Draft; readonly after: Draft }
type Draft = Readonly<Record<string, unknown>> | null

/** `ticket/t1` of each end of a relationship. */
function endsOf({ kind, before, after }: DraftedEdit): string[] {
  const of = before ?? after
  if (kind === 'record' || !of) return []
  return ['source', 'target'].map((end) => `${of[`${end}_record_type`]}/${of[`${end}_id`]}`)
}

function recordOf(name: string) {
  const at = name.indexOf('/')
  return { kind: 'record', recordType: name.slice(0, at), id: name.slice(at + 1) }
}

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
