/** What was said on the whole. What was said on records stands with them. */
import { Card } from '../../parts/card.tsx'
import { Opinion } from '../../parts/review/opinion.tsx'
import type { Said } from '../../parts/review/said.ts'
import { words } from '../../words.ts'

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
