/** Checks what a base holds against edits of its configuration, all edits of a kind together. */
import { camelFields } from '../../contract/field-names.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import type { DataCheck, Found, Kind } from '../configuration/lifecycle/kind.ts'
import type { Scope } from '../core/scope.ts'

/** An edit as far as it is checked. */
type Edit = { readonly kind: Kind; readonly id: string; readonly before: Definition | null }

/** An edit with its fields as they are stored; null for a deletion. */
export type Checkable<E extends Edit> = {
  readonly edit: E
  readonly next: object | null
  /** Steps that would migrate the records first. */
  readonly migration?: unknown
}

/** Checks the data of a base against edits, without locks that writers wait for. */
export async function checkData<E extends Edit>(
  scope: Scope,
  baseId: string,
  edits: readonly Checkable<E>[],
): Promise<ReadonlyMap<E, Found>> {
  const found = new Map<E, Found>()
  for (const kind of KINDS) {
    const own = edits.filter(({ edit }) => edit.kind === kind && edit.before !== null)
    if (own.length === 0 || !kind.checkData) continue
    const checks = own.map(({ edit: { id, before }, next, migration }): DataCheck<object> => {
      const fields = { ...kind.defaults(id), ...camelFields(before ?? {}) }
      return { id, before: fields, next, migration }
    })
    const answers = await kind.checkData(scope, baseId, checks)
    for (const [n, { edit }] of own.entries()) found.set(edit, answers[n] ?? {})
  }
  return found
}
