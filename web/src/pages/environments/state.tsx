import { useTypes } from '../../api/queries.ts'
import { misfits } from '../../parts/proposal.ts'
import { words } from '../../words.ts'
import type { Preview } from './load.ts'

/** What a preview differs in, and whether production can take it. */
export function State({ of: { is, proposal } }: { of: Preview }) {
  const types = useTypes(is.production_base ?? is.id).data ?? []
  const { change_set: set } = is
  const ended = words.environments.ended[set?.status ?? '']
  if (ended !== undefined) return ended
  const count = set ? set.counts.create + set.counts.update + set.counts.delete : proposal?.changes.length
  if (count === undefined) return null
  const trouble = proposal && misfits(proposal.breaks, proposal.conflicts.length, types)
  return (
    <>
      {count === 0 ? words.environments.same : words.review.changes(count)}
      {trouble !== undefined && <span className="changed-word"> · {trouble}</span>}
    </>
  )
}
