/** Where a change-set stands, how many approvals it has of those that its base asks for, and whose. */
import type { ChangeSet } from '../../api/shapes.ts'
import type { Said } from '../../parts/review/said.ts'
import { Chip, Text, type Tone } from '../../parts/text.tsx'
import { words } from '../../words.ts'

export const STATUS_TONES: Readonly<Record<ChangeSet['status'], Tone>> = {
  open: 'quiet',
  submitted: 'info',
  approved: 'added',
  changes_requested: 'changed',
  merged: 'added',
  rejected: 'removed',
  expired: 'quiet',
}

export function Approvals({ set, said }: { set: ChangeSet; said: readonly Said[] }) {
  const { status, approvals } = set
  const by = said.flatMap(({ verdict, is_stale: isStale, resources, by: { name } }) =>
    verdict === 'approve' && !isStale && resources === null ? [name] : [],
  )
  return (
    <>
      <p className="chips">
        <Chip tone={STATUS_TONES[status]}>{words.review.statuses[status]}</Chip>
        {approvals.needed > 0 && (
          <span className="meta">{words.review.approvals(approvals.given, approvals.needed)}</span>
        )}
      </p>
      {by.length > 0 && (
        <p className="meta">
          {words.review.approvedBy} <Text>{[...new Set(by)].join(', ')}</Text>
        </p>
      )}
    </>
  )
}
