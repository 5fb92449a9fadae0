/** A change-set that has ended, and the way to open it again. */
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import type { Base, ChangeSet } from '../../api/shapes.ts'
import { Failure } from '../../parts/failure.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import type { Sending } from './verdict.tsx'

type Props = { of: Sending; set: ChangeSet; mayOpen: boolean }

export function Reopen({ of: { base, from }, set, mayOpen }: Props) {
  const write = useWrite<Base>(base)
  const reopen = () =>
    write.mutate({
      ...{ method: 'POST', path: pathOf([from, 'reopen']), body: {} },
      onDone: () => say(words.review.reopened),
    })
  return (
    <>
      <p className="meta">{words.review.closed[set.status]}</p>
      {mayOpen && set.status !== 'merged' && (
        <button type="button" disabled={write.isPending} onClick={reopen}>
          {words.review.reopen}
        </button>
      )}
      {write.error && <Failure of={write.error} />}
    </>
  )
}
