/** What reviewers said about a change-set, and what has moved since. */
import { useMemo, useState } from 'react'
import { pathOf, useRead } from '../../api/queries.ts'
import type { Actor, Change, Page } from '../../api/shapes.ts'
import { keyOf } from './choices.ts'
import type { Item, Proposal } from './load.ts'

/** What somebody said about a change-set, or about some of its changes. */
export type Said = {
  id: string
  verdict: Verdict
  is_stale: boolean
  resources: { kind: string; record_type?: string; id: string; fields?: string[] }[] | null
  text: string | null
  by: Actor
  at: string
}
export type Verdict = 'comment' | 'approve' | 'request_changes' | 'reject'
/** What was said about a change-set, newest first. */
export const useSaid = ({ from, set }: Item) =>
  useRead<Page<Said>>(pathOf([from ?? '', 'reviews'], { limit: 200 }), { enabled: set !== undefined })

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
