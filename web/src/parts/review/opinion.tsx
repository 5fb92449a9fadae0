/** What reviewers said about a change-set. What was said before its last change is quiet. */
import { pathOf, useRead } from '../../api/queries.ts'
import type { ChangeSetReview, Page } from '../../api/shapes.ts'
import { words } from '../../words.ts'
import { Card } from '../card.tsx'
import type { Named } from '../proposal.ts'
import { Chip, fieldName, Text, type Tone } from '../text.tsx'
import { Time } from '../time.tsx'
import { Who } from '../who.tsx'

export type Verdict = ChangeSetReview['verdict']
/** About all of it, or about some of its changes. */
export type Said = Omit<ChangeSetReview, 'resources'> & {
  resources: (Named & { fields?: string[] })[] | null
}

/** Newest first. */
export const useSaid = (from: string | undefined, isSet: boolean) =>
  useRead<Page<Said>>(pathOf([from ?? '', 'reviews'], { limit: 200 }), { enabled: isSet })

const TONES: Readonly<Record<Verdict, Tone>> = {
  comment: 'quiet',
  approve: 'added',
  request_changes: 'changed',
  reject: 'removed',
}

export function Opinion({ of: { by, verdict, at, text, resources, is_stale: isStale } }: { of: Said }) {
  const fields = resources?.flatMap(({ fields: named = [] }) => named) ?? []
  const isOld = isStale && verdict !== 'comment'
  return (
    <div className="card-item review-opinion">
      <p className="chips">
        <Who {...by} />
        <Chip tone={isOld ? 'quiet' : TONES[verdict]}>{words.review.verdictsGiven[verdict]}</Chip>
        <span className="meta">
          {fields.length > 0 && <Text>{`${fields.map(fieldName).join(', ')} · `}</Text>}
          <Time at={at} />
          {isOld && ` · ${words.review.beforeLast}`}
        </span>
      </p>
      {text !== null && <Text in="p">{text}</Text>}
    </div>
  )
}

/** What was said on the whole. What was said on records stands with them. */
export function Opinions({ said }: { said: readonly Said[] }) {
  const whole = said.filter(({ resources }) => resources === null)
  if (whole.length === 0) return null
  return (
    <Card title={words.review.saidAbout}>
      {whole.map((each) => (
        <Opinion key={each.id} of={each} />
      ))}
    </Card>
  )
}
