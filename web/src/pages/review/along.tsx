import type { Edit } from '../../api/shapes.ts'
import { keyOf } from '../../parts/proposal.ts'
import { words } from '../../words.ts'
import type { Choices } from './choices.ts'

/** Whether a change goes along, or stays where it was proposed. */
export const Along = ({ of, choices }: { of: Edit; choices: Choices }) => (
  <label className="review-along">
    <input
      type="checkbox"
      checked={!choices.left.has(keyOf(of))}
      onChange={() => choices.onLeave(keyOf(of))}
    />{' '}
    {words.review.along}
  </label>
)
