/** The drafts of a change-set as the policies of an endpoint show them. */
import { requireType } from '../../configuration/record-types/index.ts'
import { inChangeSet } from '../../core/change-set/change-set-scope.ts'
import { policyOn, rightsOf, visibleType } from '../../core/row-policy/apply.ts'
import { seenRecord } from '../../core/row-policy/project-data.ts'
import type { Scope } from '../../core/scope.ts'
import { idsWithin } from '../../records/query/policy-read.ts'
import { type Draft, readDrafts, typesOf } from './drafts.ts'

/**
 * Under a row filter a record is shown that matches it on both sides, as far as they exist. What production had at an earlier
 * time is out of reach there, as the past of a record is.
 */
export async function boundedDrafts(scope: Scope, baseId: string, from: string): Promise<Draft[]> {
  const within = await inChangeSet(scope, from)
  const rights = rightsOf(within)
  const allowed = (await readDrafts(scope.db, from)).filter((draft) =>
    typesOf(draft).every(
      (type) =>
        rights.allows('read', baseId, type) &&
        (draft.kind === 'record' || policyOn(within, baseId, type) === undefined),
    ),
  )
  const shown: Draft[] = []
  for (const [of, drafts] of Map.groupBy(allowed, ({ kind, type }) => (kind === 'record' ? type : ''))) {
    const policy = of === '' ? undefined : policyOn(within, baseId, of)
    const filter = policy?.filter ?? null
    if (filter === null) shown.push(...drafts.map((draft) => seenBy(policy, draft)))
    else {
      const type = visibleType(policy, await requireType(within, baseId, of))
      const ids = drafts.map(({ id }) => id)
      const [now, then] = [within, scope].map(
        async (side) => new Set(await idsWithin(side, filter, type, ids)),
      )
      const [after, before] = [await now, await then]
      const isShown = ({ id, base, preview, production }: Draft) =>
        (preview === null || after?.has(id) === true) &&
        (base === null ? production === null : production === base && before?.has(id) === true)
      shown.push(...drafts.filter(isShown).map((draft) => seenBy(policy, draft)))
    }
  }
  return shown
}

const seenBy = (policy: Parameters<typeof seenRecord>[0], draft: Draft): Draft => ({
  ...draft,
  base: draft.base && seenRecord(policy, draft.base),
  preview: draft.preview && seenRecord(policy, draft.preview),
})
