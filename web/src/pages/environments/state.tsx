import { words } from '../../words.ts'
import type { Preview } from './load.ts'

/** What a preview differs in, and whether production can take it. */
export function State({ of: { is, proposal } }: { of: Preview }) {
  const { change_set: set } = is
  const ended = words.environments.ended[set?.status ?? '']
  if (ended !== undefined) return ended
  const count = set ? set.counts.create + set.counts.update + set.counts.delete : proposal?.changes.length
  if (count === undefined) return null
  const { breaks = [], conflicts = [] } = proposal ?? {}
  const unfit = breaks.reduce((sum, each) => sum + (each.count ?? 0), 0)
  const trouble =
    unfit > 0
      ? words.activity.doNotFit(unfit)
      : breaks.length + conflicts.length > 0
        ? words.review.obstacles(breaks.length + conflicts.length)
        : undefined
  return (
    <>
      {count === 0 ? words.environments.same : words.review.changes(count)}
      {trouble !== undefined && <span className="changed-word"> · {trouble}</span>}
    </>
  )
}
