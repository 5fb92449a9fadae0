/** Checks links against changes of their types ahead of the change, while others write. */
import { DomainError } from '../../../foundation/errors.ts'
import { writtenSince } from '../../change-log/written-since.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../write/write.ts'
import type { DataCheck, Found, Holding } from '../lifecycle/kind.ts'
import { lockTypes } from '../lifecycle/lock.ts'
import { refuseLinks } from './delete-links.ts'
import type { Fields } from './input.ts'
import { affectedBy, validateExistingLinks } from './validate-existing.ts'

/** A check without a lock that found nothing to refuse and nothing to write, and since when links may have changed. */
export type LinkSurvey = { readonly since: number }

/** A type whose writers wait. */
export type Held = { readonly id: string; readonly survey: LinkSurvey | undefined }

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
      found.push(isWritten ? {} : { found: { since } satisfies LinkSurvey })
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      found.push({ fault: thrown })
    }
  return found
}

/**
 * Blocks writes of links until the transaction ends. Types whose links have not been written since their survey
 * need no other check.
 */
export async function holdLinks({ db }: WriteScope, baseId: string, held: readonly Held[]): Promise<Holding> {
  const ids = held.map(({ id }) => id)
  await lockTypes(db, 'relationship_type', baseId, ids)
  const surveyed = new Map(held.flatMap(({ id, survey }) => (survey ? [[id, survey.since]] : [])))
  const settled = new Set(surveyed.keys())
  if (settled.size > 0) {
    const since = Math.min(...surveyed.values())
    for await (const { written } of writtenSince(db, baseId, since, 'relationship', ids))
      for (const id of written.keys()) settled.delete(id)
  }
  return { settled, faults: new Map() }
}
