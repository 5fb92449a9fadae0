/** A change-set that has ended, and the way to open it again. */
import { pathOf, useWrite } from '../../api/queries.ts'
import type { Base, ChangeSet } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import type { Sending } from '../../parts/review/on-record.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'

type Props = { of: Sending; set: ChangeSet; mayOpen: boolean }

export function Reopen({ of: { base, from }, set, mayOpen }: Props) {
  const write = useWrite<Base>(base)
  const reopen = () => write.send('POST', pathOf([from, 'reopen']), {}, () => say(words.review.reopened))
  return (
    <>
      <p className="meta">{words.review.closed[set.status]}</p>
      {mayOpen && set.status !== 'merged' && (
        <Button label={words.review.reopen} disabled={write.isPending} onClick={reopen} />
      )}
      {write.error && <Failure of={write.error} />}
    </>
  )
}
