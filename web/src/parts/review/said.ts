/** What reviewers said about a change-set. */
import { pathOf, useRead } from '../../api/queries.ts'
import type { Actor, Page } from '../../api/shapes.ts'
import type { Named } from '../proposal.ts'

export type Verdict = 'comment' | 'approve' | 'request_changes' | 'reject'
/** About all of it, or about some of its changes. */
export type Said = {
  id: string
  verdict: Verdict
  is_stale: boolean
  resources: (Named & { fields?: string[] })[] | null
  text: string | null
  by: Actor
  at: string
}

/** Newest first. */
export const useSaid = (from: string | undefined, isSet: boolean) =>
  useRead<Page<Said>>(pathOf([from ?? '', 'reviews'], { limit: 200 }), { enabled: isSet })
