/** Nothing matches: what hides them, and the way to take it off. */
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/failure.tsx'
import type { Change } from '../../parts/search.ts'
import { words } from '../../words.ts'
import type { Condition } from './filter.ts'

type Props = {
  plural: string
  conditions: readonly Condition[]
  total: number | undefined
  q: string | undefined
  onConditions: (conditions: Condition[]) => void
  onChange: Change
}

export const NoMatch = ({ plural, conditions, total, q, onConditions, onChange }: Props) => (
  <Empty
    title={conditions.length === 0 && !q ? words.records.none(plural) : words.records.noMatch(plural, total)}
  >
    <span className="chips">
      {conditions.length > 0 && (
        <Button label={words.records.removeFilter} onClick={() => onConditions([])} />
      )}
      {q && <Button label={words.records.removeSearch} onClick={() => onChange({ q: undefined })} />}
    </span>
  </Empty>
)
