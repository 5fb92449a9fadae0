/** What the server refused; of what was written since it was shown, with the way to what it is now. */
import type { Failure as Refusal } from '../../api/failure.ts'
import { words } from '../../words.ts'
import { Button } from '../button.tsx'
import { Failure } from '../failure.tsx'

export function Refused({ of, onRenew }: { of: Refusal | null; onRenew: () => void }) {
  if (!of) return null
  if (!of.details.some(({ code }) => code === 'changed_since')) return <Failure of={of} />
  return (
    <div className="amber review-since" role="alert">
      <p>{words.review.changedSince}</p>
      <Button label={words.record.toNow} onClick={onRenew} />
    </div>
  )
}
