/** What people decided, newest first. */
import { pathOf, usePagesOf } from '../../api/queries.ts'
import { More } from '../../parts/button.tsx'
import { Empty, pendingOf } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { shortName } from '../../parts/previews.ts'
import { Time } from '../../parts/time.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Request } from './load.ts'

export function Decided({ base }: { base: string }) {
  const decided = usePagesOf<Request>(pathOf([base, 'review-requests'], { state: 'decided', limit: 50 }))
  const all = decided.data ?? []
  return (
    <>
      {pendingOf(decided, 3)}
      {decided.isSuccess && all.length === 0 && <Empty title={words.review.noneEnded} />}
      {all.length > 0 && (
        <ul className="card" aria-label={words.review.places.ended}>
          {all.map((request) => (
            <li key={request.id} className="card-item review-decided">
              <p>
                <Text in="strong">{request.title}</Text>{' '}
                <Text className="meta">{shortName(request.from ?? request.id)}</Text>
              </p>
              <Verdict of={request} />
            </li>
          ))}
        </ul>
      )}
      <More of={decided} label={words.review.more} />
    </>
  )
}

/** Who decided what, when, and the word to the agent. */
export const Verdict = ({ of: { decision } }: { of: Request }) =>
  decision && (
    <>
      <p className="chips meta">
        <Who name={decision.by.name} kind={decision.by.kind} />
        {words.review.decisions[decision.decision]} · <Time at={decision.at} />
      </p>
      {decision.note !== null && <Text in="q">{decision.note}</Text>}
    </>
  )
