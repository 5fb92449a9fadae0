/** Holds a promotion of records against the approvals that its base asks for. */
import { isDeepStrictEqual } from 'node:util'
import { productionOf } from '../../../contract/ids.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import type { Held } from '../../core/change-set/lifecycle.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'
import type { Draft } from './drafts.ts'
import { keyOf, keyOfDraft, type Named, narrowed } from './selection.ts'

const NEEDED = statement('approvals_needed', 'SELECT plinth_draft.approvals_needed($1) AS needed')
const GIVEN = statement('approvals_given', 'SELECT who, resources FROM plinth_draft.approvals($1)')

type Approval = { who: string; resources: Named[] | null }

/**
 * Each draft needs as many reviewers who approved it, or the whole, at the present revision. `force` of an admin passes.
 * @throws CONFLICT
 */
export async function requireApprovals(
  { db, access }: Scope,
  id: string,
  { revision }: Held,
  drafts: readonly Draft[],
  isForced: boolean,
): Promise<void> {
  const [rule] = await db.query<{ needed: number }>(NEEDED, [id])
  const needed = rule?.needed ?? 0
  if (needed === 0 || (isForced && access.allows('admin', productionOf(id), '*'))) return
  const given = await db.query<Approval>(GIVEN, [id])
  const whole = new Set(given.flatMap(({ who, resources }) => (resources ? [] : who)))
  if (whole.size >= needed) return
  const named = Map.groupBy(
    given.flatMap(({ who, resources }) => (resources ?? []).map((each) => ({ who, each }))),
    ({ each }) => keyOf(each),
  )
  const covers = (draft: Draft, { fields }: Named) =>
    fields === undefined || isDeepStrictEqual(narrowed(draft, fields), draft.preview)
  const least = drafts.reduce((fewest, draft) => {
    const of = (named.get(keyOfDraft(draft)) ?? []).filter(({ each }) => covers(draft, each))
    return Math.min(fewest, new Set([...whole, ...of.map(({ who }) => who)]).size)
  }, needed)
  if (least < needed) throw needsApproval(id, { revision, needed, given: least })
}

function needsApproval(
  id: string,
  { revision, needed, given }: { revision: number; needed: number; given: number },
): DomainError {
  const message = `Revision ${revision} of "${id}" has ${given} of ${needed} approvals. Ask a reviewer to approve this revision.`
  return oneFault('CONFLICT', message, {
    path: '/from',
    code: 'needs_approval',
    received: given,
    expected: needed,
  })
}
