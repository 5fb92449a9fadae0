/** Checks what edits refer to, in the configuration that they would leave. Reads nothing. */
import { type Detail, invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { unknownReference } from '../configuration/lifecycle/references.ts'
import type { Edit } from './edits.ts'
import type { Snapshot } from './snapshot.ts'

/** An edit with its fields as they would be stored; null for a deletion. */
type Read<E extends Edit> = { readonly edit: E; readonly next: object | null }

/** The faults of references to resources that are absent once all edits are applied, by edit. */
export async function checkReferences<E extends Edit>(
  production: Snapshot,
  edits: readonly Read<E>[],
): Promise<ReadonlyMap<E, Error>> {
  const after = new Map([...production].map(([kind, definitions]) => [kind, new Set(definitions.keys())]))
  for (const { edit } of edits) {
    const ids = after.get(edit.kind.name)
    if (edit.after === null) ids?.delete(edit.id)
    else ids?.add(edit.id)
  }
  const known = new Map<string, string[]>()
  const idsOf = (kind: string): string[] => {
    const ids = known.get(kind) ?? [...(after.get(kind) ?? [])].sort()
    known.set(kind, ids)
    return ids
  }
  const found = new Map<E, Error>()
  for (const { edit, next } of edits) {
    if (turnIsOver()) await nextTurn()
    const [fault, ...more] = (next ? (edit.kind.references?.(next) ?? []) : []).flatMap(
      ({ kind, id, at, instead }): Detail[] =>
        after.get(kind.name)?.has(id) ? [] : [unknownReference(kind, id, at, idsOf(kind.name), instead)],
    )
    if (fault) found.set(edit, invalid(fault, ...more))
  }
  return found
}
