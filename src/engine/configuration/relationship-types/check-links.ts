/** Checks links against changes of their types ahead of the change, while others write. */
import { DomainError } from '../../../foundation/errors.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { writtenSince } from '../../log/written-since.ts'
import type { DataCheck, Found, LockResult } from '../lifecycle/kind.ts'
import { lockTypes } from '../lifecycle/lock.ts'
import { refuseLinks } from './delete-links.ts'
import type { Fields } from './input.ts'
import { affectedBy, validateExistingLinks } from './validate-existing.ts'

/** A check without a lock that found nothing to refuse and nothing to write, and since when links may have changed. */
export type LinkPrecheck = { readonly since: number }

/** A type whose writers wait. */
export type TypeToLock = { readonly id: string; readonly precheck: LinkPrecheck | undefined }

/** Checks the links that changes or deletions of types concern. Returns what was found, in the same order. */
export async function checkLinks(
  scope: Scope,
  baseId: string,
  checks: readonly DataCheck<Fields>[],
): Promise<readonly Found[]> {
  const since = await scope.feed.settledSeq()
  const found: Found[] = []
  for (const { id, before, next } of checks)
    try {
      const affected = next && affectedBy(before, next)
      if (next === null) await refuseLinks(scope.db, { baseId, id })
      const mode = { allowsInvalid: false, isCheck: true }
      const isWritten =
        next &&
        affected &&
        (await validateExistingLinks(scope, { baseId, id }, affected, [before, next], mode))
      found.push(isWritten ? {} : { found: { since } satisfies LinkPrecheck })
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      found.push({ fault: thrown })
    }
  return found
}

/**
 * Blocks writes of links until the transaction ends. Types whose links have not been written since their precheck
 * need no other check.
 */
export async function lockLinks(
  { db }: WriteScope,
  baseId: string,
  toLock: readonly TypeToLock[],
): Promise<LockResult> {
  const ids = toLock.map(({ id }) => id)
  await lockTypes(db, 'relationship_type', baseId, ids)
  const prechecked = new Map(toLock.flatMap(({ id, precheck }) => (precheck ? [[id, precheck.since]] : [])))
  const settled = new Set(prechecked.keys())
  if (settled.size > 0) {
    const since = Math.min(...prechecked.values())
    for await (const { written } of writtenSince(db, baseId, since, 'relationship', ids))
      for (const id of written.keys()) settled.delete(id)
  }
  return { settled, faults: new Map() }
}
