/** Differences between two configurations, and how to apply them. */
import { digest } from '../../contract/canonical-hash.ts'
import { camelFields } from '../../contract/field-names.ts'
import type { DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { pointer } from '../../json/parse.ts'
import { type DiffStep, diffOf } from '../change-log/diff.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Change, changeAll } from '../configuration/lifecycle/change.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import type { Kind, PutOptions } from '../configuration/lifecycle/kind.ts'
import { loadedIn } from '../configuration/lifecycle/load.ts'
import { type Removal, removeAll } from '../configuration/lifecycle/remove.ts'
import { secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import type { Scope } from '../core/scope.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { checkData } from './check-data.ts'
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
  diff: readonly DiffStep[]
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

export const shown = ({ kind, id, before, after }: Edit): ShownEdit => ({
  kind: kind.name,
  id,
  op: before === null ? 'create' : after === null ? 'delete' : 'update',
  diff: diffOf(before, after && { ...after, ...hiddenOf(kind, after) }).concat(
    before && after ? Object.keys(hiddenOf(kind, after)).map(replacedSecret) : [],
  ),
})

/** The secrets that a definition sets, hidden. */
const hiddenOf = (kind: Kind, definition: Definition): Definition =>
  Object.fromEntries(Object.keys(secretsSetBy(kind, definition)).map((name) => [name, REDACTED]))

const replacedSecret = (name: string): DiffStep => ({ op: 'replace', path: pointer(name), value: REDACTED })

/** How many resources the edits create, update and delete. */
export function summaryOf(edits: readonly ShownEdit[]): Record<ShownEdit['op'], number> {
  const count = (op: ShownEdit['op']) => edits.filter((edit) => edit.op === op).length
  return { create: count('create'), update: count('update'), delete: count('delete') }
}

/** An edit whose fields are read and checked, ready to be applied. */
export type Prepared<E extends Edit> = {
  readonly edit: E
  readonly input: object
  /** Null for a deletion. */
  readonly next: object | null
  readonly options: PutOptions
}

type How<E extends Edit> = {
  /** Rewrites a failure, to say which edit failed. */
  located: (thrown: unknown, edit: E) => unknown
  /** What the log says of the origin of a resource, beyond its definition. */
  originOf?: (edit: E) => object
  /** How existing records are treated. */
  optionsOf?: (edit: E) => Partial<PutOptions>
}

/**
 * Reads the fields of edits. With `against`, checks the data of a base against them while others write, so that
 * little is left to check under the lock.
 * @throws as a PUT of one of the resources
 */
export async function prepareEdits<E extends Edit>(
  edits: readonly E[],
  { located, originOf, optionsOf }: How<E>,
  against?: { scope: Scope; baseId: string },
): Promise<Prepared<E>[]> {
  const prepared: Prepared<E>[] = []
  for (const edit of edits) {
    if (turnIsOver()) await nextTurn()
    const options: PutOptions = { expected: NO_EXPECTATION, ...optionsOf?.(edit) }
    try {
      const next = nextOf(edit)
      const input = next ? { ...camelFields(edit.after ?? {}), ...originOf?.(edit) } : {}
      prepared.push({ edit, input, next, options })
    } catch (thrown) {
      throw located(thrown, edit)
    }
  }
  if (!against) return prepared
  const due = prepared.filter(({ next, options }) => next && options.onInvalid === undefined)
  const data = await checkData(against.scope, against.baseId, due)
  return prepared.map((each) => {
    const { found, fault } = data.get(each.edit) ?? {}
    if (fault) throw located(fault, each.edit)
    return { ...each, options: { ...each.options, found } }
  })
}

/**
 * The fields that an edit stores; null for a deletion.
 * @throws VALIDATION_ERROR with every fault of the shape
 */
export const nextOf = ({ kind, id, after }: Edit): object | null =>
  after && readFields({ kind, id }, camelFields(after), null)

/** How many records migrations rewrite, by record type. */
export type RecordsRewritten = Readonly<Record<string, number>>

/** A resource that is deleted only with `prune`. */
export type Kept = { readonly kind: string; readonly id: string }

/** The parts of an answer that are there only if there is something to say. */
export const occasional = <P extends Readonly<Record<string, object>>>(parts: P): Partial<P> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) as Partial<P>

/** A secret that was made for a new resource. */
export type NewSecret = { readonly kind: string; readonly id: string; readonly secret: string }

type Applying<E extends Edit> = Pick<How<E>, 'located'> & {
  readonly isForced: boolean
  /** Makes it a trial, which stores nothing, takes no lock and leaves the data of the base aside: it is told each failure. */
  readonly refused?: (fault: DomainError, edit: E) => void
}

/**
 * Applies edits in a transaction that has the configuration of the base locked, or tries them: what is referenced is written
 * first and deleted last. Resources that depend on others are checked when all is written. Returns the secrets
 * that it made, and how many records of each type migrations rewrote.
 * @throws as a PUT or DELETE of one of the resources
 */
export async function applyEdits<E extends Edit>(
  scope: WriteScope,
  baseId: string,
  prepared: readonly Prepared<E>[],
  { isForced, located, refused }: Applying<E>,
): Promise<{ secrets: readonly NewSecret[]; recordsRewritten: RecordsRewritten }> {
  const loaded = loadedIn(scope, baseId, refused !== undefined)
  const checks: (() => Promise<void>)[] = []
  const secrets: NewSecret[] = []
  const recordsRewritten: [id: string, records: number][] = []
  const told = (edit: E) => refused && { refused: (fault: DomainError) => refused(fault, edit) }
  for (const kind of KINDS) {
    const changes = prepared.flatMap(({ edit, input, next, options }): Change<object>[] => {
      if (edit.kind !== kind || next === null) return []
      const changed = () => ({ input, next })
      return [{ id: edit.id, options, changed, located: (thrown) => located(thrown, edit), ...told(edit) }]
    })
    if (changes.length === 0) continue
    const done = await changeAll(loaded, kind, changes)
    checks.push(done.checkDependents)
    for (const { id, recordsRewritten: records } of done.views)
      if (records !== undefined) recordsRewritten.push([id, records])
    for (const { id, secrets: made } of done.made)
      for (const secret of Object.values(made)) secrets.push({ kind: kind.name, id, secret })
  }
  for (const kind of [...KINDS].reverse()) {
    const gone = prepared.flatMap(({ edit }) => (edit.kind === kind && edit.after === null ? [edit] : []))
    const removals = gone.reverse().map(
      (edit): Removal => ({
        id: edit.id,
        // Forced: types are deleted with all of their records.
        options: { confirm: isForced ? edit.id : null, checkPlan: () => {}, expected: NO_EXPECTATION },
        located: (thrown) => located(thrown, edit),
        ...told(edit),
      }),
    )
    if (removals.length > 0) await removeAll(loaded, kind, removals)
  }
  for (const check of checks) await check()
  return { secrets, recordsRewritten: Object.fromEntries(recordsRewritten) }
}
