/** Differences between two configurations, and how to apply them. */
import { digest } from '../../contract/canonical-hash.ts'
import { camelFields } from '../../contract/field-names.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { pointer } from '../../json/parse.ts'
import { type DiffStep, diffOf } from '../change-log/diff.ts'
import { KINDS } from '../configuration/kinds.ts'
import { changeIn, removeIn } from '../configuration/lifecycle/change.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { loadedIn } from '../configuration/lifecycle/load.ts'
import { REDACTED, secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
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

type How<E extends Edit> = {
  /** Delete types with all of their records. */
  isForced: boolean
  /** Rewrites a failure, to say which edit failed. */
  located: (thrown: unknown, edit: E) => unknown
  /** What the log says of the origin of a resource, beyond its definition. */
  originOf?: (edit: E) => object
}

/**
 * Applies edits in a transaction that has the configuration of the base locked: what is referenced is written
 * first and deleted last. Resources that depend on others are checked when all is written.
 * @throws as a PUT or DELETE of one of the resources
 */
export async function applyEdits<E extends Edit>(
  scope: WriteScope,
  baseId: string,
  edits: readonly E[],
  { isForced, located, originOf }: How<E>,
): Promise<void> {
  const loaded = loadedIn(scope, baseId)
  const later: (() => Promise<void>)[] = []
  const each = async (edit: E, apply: () => Promise<unknown>) => {
    if (turnIsOver()) await nextTurn()
    await apply().catch((thrown: unknown) => {
      throw located(thrown, edit)
    })
  }
  for (const edit of edits) {
    const { kind, id, after } = edit
    if (after === null) continue
    await each(edit, () => {
      const input = camelFields(after)
      const next = readFields({ kind, id }, input, null)
      const checks: (() => Promise<void>)[] = []
      const done = changeIn(
        loaded,
        { kind, id },
        { expected: NO_EXPECTATION },
        () => ({ input: { ...input, ...originOf?.(edit) }, next }),
        checks,
      )
      later.push(async () => {
        for (const check of checks) await each(edit, check)
      })
      return done
    })
  }
  for (const edit of [...edits].reverse()) {
    const { kind, id, after } = edit
    if (after !== null) continue
    const confirm = isForced ? id : null
    await each(edit, () =>
      removeIn(loaded, { kind, id }, { confirm, checkPlan: () => {}, expected: NO_EXPECTATION }),
    )
  }
  for (const check of later) await check()
}
