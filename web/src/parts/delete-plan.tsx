/** Deletes a resource, after what the server says goes with it. */
import { pathOf, useAsk, useWrite } from '../api/queries.ts'
import type { Deletion } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Dialog } from './dialog.tsx'
import { pendingOf } from './failure.tsx'
import { Text } from './text.tsx'
import { say } from './toast.tsx'

type Props = {
  /** Where it is. Its id is the last part, and confirms. */
  of: readonly [string, ...string[]]
  /** The base that shows it. */
  base?: string
  says: { title: string; act: string; done: string; about: string }
  /** Where to go before what shows it is read again. */
  onDone: () => void
  onClose: () => void
}

export function DeletePlan({ of, base, says, onDone, onClose }: Props) {
  const confirm = of.at(-1) as string
  const write = useWrite<unknown>(base)
  const plan = useAsk<{ deletion?: Deletion }>(pathOf(of, { confirm, dry_run: true }), undefined, {
    method: 'DELETE',
  })
  const count = (group: 'records' | 'relationships' | 'files' | 'attachments') =>
    plan.data?.deletion?.[group]?.count ?? 0
  return (
    <Dialog
      title={<Text>{says.title}</Text>}
      onClose={onClose}
      act={{
        label: <Text>{says.act}</Text>,
        tone: 'danger',
        isReady: plan.isSuccess,
        write,
        onSelect: () =>
          write.send('DELETE', pathOf(of, { confirm }), undefined, () => {
            say(<Text>{says.done}</Text>)
            onClose()
            onDone()
          }),
      }}
    >
      {pendingOf(plan, 2)}
      {plan.data && (
        <p>
          {words.goesAlong(count('records'), count('relationships'), count('files') + count('attachments'))}
        </p>
      )}
      <p className="meta">{says.about}</p>
    </Dialog>
  )
}
