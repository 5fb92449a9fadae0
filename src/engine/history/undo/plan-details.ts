/** What the plan of an undo shows besides: the diffs of the reverts, titles, and what followed from the changes. */
import { DomainError } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Change } from '../../log/entry.ts'
import { type Reader, readOwn } from '../../log/read.ts'
import { titlesOf } from '../../records/titles.ts'
import type { Db } from '../../storage/database/client.ts'
import type { FoundChange } from './find-changes.ts'
import { type Effects, withEffects } from './find-effects.ts'
import { nameOf } from './resource-entries.ts'

type Of = Parameters<typeof nameOf>[0]
/** A revert names the change as its cause. So does what goes with it, which is another resource. */
const revertOf = (cause: number | string | null, of: Of) => `${cause}\n${nameOf(of)}`

/** Adds the diffs of the reverts, which the transaction has logged. Those that exceed the size of an answer are left out. */
export async function addDiffs(
  scope: WriteScope,
  baseId: string,
  upTo: number,
  reverts: readonly (Of & { reverts: number; diff?: Change['diff'] | undefined })[],
): Promise<void> {
  const { changes: made } = await readOwn(scope.db, baseId, upTo, scope.answer.page())
  const diffs = new Map(made.map((change) => [revertOf(change.cause, change), change.diff]))
  for (const undone of reverts) undone.diff = diffs.get(revertOf(undone.reverts, undone))
}

export async function addTitles(
  scope: WriteScope,
  baseId: string,
  all: readonly (Of & { title?: string | null | undefined })[],
): Promise<void> {
  const titles = await titlesOf(scope, baseId, all)
  for (const [n, each] of all.entries()) each.title = titles[n] ?? null
}

/** What followed from the changes, and would be undone too with its effects; null if that is too much to tell. */
export async function effectsOf(
  tx: Db,
  baseId: string,
  reader: Reader,
  asked: readonly FoundChange[],
  upTo: number,
): Promise<Effects | null> {
  try {
    return (await withEffects(tx, baseId, reader, asked, upTo)).effects
  } catch (thrown) {
    if (thrown instanceof DomainError && thrown.code === 'VALIDATION_ERROR') return null
    throw thrown
  }
}
