/** Takes one change of the record back: first what that does, then the undo, then the way back. */
import { useState } from 'react'
import { type Change, pathOf, useAsk, useWrite } from '../../api/queries.ts'
import { askUndo, pendingOf, sayDone } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Place } from './load.ts'

type Props = { place: Place; change: Change; onClose: () => void }

export function UndoChange({ place: { base }, change, onClose }: Props) {
  const [force, setForce] = useState(false)
  const path = (dry: boolean) =>
    pathOf([base, 'changes', String(change.seq), 'revert'], {
      dry_run: dry || undefined,
      force: force || undefined,
    })
  const plan = useAsk<Change>(path(true), undefined)
  const write = useWrite<Change>(base)
  const undo = () =>
    write.send('POST', path(false), undefined, (done) => {
      onClose()
      sayDone(words.record.undone, base, done.request_id, words.record.undoUndo)
    })
  const isOvertaken = plan.error?.details.some(({ code }) => code === 'overtaken') === true
  return (
    <Dialog
      title={words.record.undo(change.actor.name)}
      onClose={onClose}
      foot={
        <Button
          className="quiet"
          label={words.record.undoAll}
          onClick={() => {
            onClose()
            askUndo({ base, of: { request_id: change.request_id } })
          }}
        />
      }
      act={{ label: words.record.undoDo, isReady: plan.isSuccess, onSelect: undo, write }}
    >
      {isOvertaken && plan.error ? (
        <div className="amber">
          <Text in="p">{plan.error.message}</Text>
          <Button label={words.record.undoForce} onClick={() => setForce(true)} />
        </div>
      ) : (
        pendingOf(plan, 3)
      )}
      {plan.data &&
        (change.operation === 'create' ? (
          <p>{words.record.undoCreate}</p>
        ) : (
          <Plan of={change} then={plan.data} />
        ))}
    </Dialog>
  )
}

/** The steps of the undo, with what the fields are now, from the change that it takes back. */
function Plan({ of, then }: { of: Change; then: Change }) {
  const now = new Map(changesOf(of.diff).map((each) => [each.name, each.to]))
  const changes = changesOf(then.diff).map((each) => ({ ...each, from: each.from ?? now.get(each.name) }))
  return (
    <>
      <p>{words.record.undoPlan}</p>
      <ChangesInTable changes={changes} />
    </>
  )
}
