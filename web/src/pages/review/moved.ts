/** What has moved in a change-set since it was looked at. */
import { useMemo, useState } from 'react'
import { pathOf, useRead } from '../../api/queries.ts'
import type { Change, Page } from '../../api/shapes.ts'
import { keyOf } from '../../parts/proposal.ts'
import type { Said } from '../../parts/review/opinion.tsx'
import type { Item, Proposal } from './load.ts'

/** What is other than the last reviewer saw, and than this page showed first: keys of edits. */
export function useMoved(item: Item, plan: Proposal | undefined, said: readonly Said[]): ReadonlySet<string> {
  const [first, setFirst] = useState<Proposal>()
  if (plan && !first) setFirst(plan)
  const last = said.find(({ verdict, by }) => verdict !== 'comment' && by.token_id !== item.by?.token_id)
  const path = pathOf([item.from ?? '', 'changes'], { since: last?.at ?? '', limit: 1000 })
  const since = useRead<Page<Change>>(path, { enabled: last !== undefined && item.set !== undefined })
  return useMemo(() => {
    const before = new Map(first?.changes.map((edit) => [keyOf(edit), JSON.stringify(edit.diff)]))
    return new Set([
      ...(since.data?.data ?? []).map(({ kind, record_type: type, id }) =>
        keyOf({ kind, id: kind === 'record' ? `${type}/${id}` : id }),
      ),
      ...(plan?.changes ?? [])
        .filter((edit) => before.get(keyOf(edit)) !== JSON.stringify(edit.diff))
        .map(keyOf),
    ])
  }, [first, plan, since.data])
}
