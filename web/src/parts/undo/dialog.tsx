/** The undo: its plan first, in numbers and fields, then one button that says how much it takes back. */
import { useId, useState } from 'react'
import { newKey, pathOf, type UndoPlan, useAsk, useChangers, useTypes, useWrite } from '../../api/queries.ts'
import { words } from '../../words.ts'
import { Empty, Failure, pendingOf, sayDone, type Undo } from '../answer.tsx'
import { Dialog } from '../dialog.tsx'
import { counted } from '../record-types.ts'
import { Text } from '../text.tsx'
import { Fields, isOther, Left, laterOf, Numbers, Sent, SHOWN } from './plan.tsx'

/** A plan that is older is made again before it is carried out. */
const OLD_MS = 60_000

export default function UndoDialog({ base, of, about, onClose }: Undo & { onClose: () => void }) {
  const [isForced, setForced] = useState(false)
  const [withEffects, setWithEffects] = useState(false)
  const [isChanged, setChanged] = useState(false)
  const [key] = useState(newKey)
  const name = useId()
  const types = useTypes(base).data ?? []
  const choice = { on_conflict: isForced ? 'force' : 'skip', ...(withEffects && { with_effects: true }) }
  const path = pathOf([base, 'revert'], { dry_run: true })
  const plan = useAsk<UndoPlan>(path, { ...of, ...choice, include: ['titles'] }, { keep: true })
  const seen = plan.data
  const write = useWrite<UndoPlan>(base)
  const later = useChangers(base, seen ? laterOf(seen).slice(0, SHOWN) : [])

  const done = ({ count, request_id: request }: UndoPlan) => {
    onClose()
    sayDone(words.undo.done(count), base, request, words.record.undoUndo)
  }
  const carryOut = async () => {
    if (!seen) return
    // What others write has the plan read again: a click meanwhile counts for what the person saw.
    if (plan.isFetching || Date.now() - plan.dataUpdatedAt > OLD_MS) {
      const { data: now } = await plan.refetch({ cancelRefetch: false })
      if (now && isOther(seen, now)) return setChanged(true)
    }
    const once = { 'idempotency-key': `${key}-${JSON.stringify(choice).length}` }
    write.send('POST', pathOf([base, 'revert']), { ...of, ...choice }, done, once)
  }

  // Of one type, it is named; skipped records are of the same ones.
  const [one, other] = seen?.by ?? []
  const countedOf = (count: number) =>
    one && !other ? counted(count, types, one.record_type, one.kind) : words.countOfRecords(count)
  const total = (seen?.count ?? 0) + (seen?.skipped.length ?? 0)
  return (
    <Dialog
      title={seen ? words.undo.title(total) : words.undo.planning}
      onClose={onClose}
      isWide
      foot={<span className="note">{words.undo.oneTransaction}</span>}
      act={{
        label: words.undo.button(seen?.count ?? 0),
        isReady: seen !== undefined && seen.count > 0 && !write.isPending && !plan.isPlaceholderData,
        onSelect: () => void carryOut(),
      }}
    >
      {about !== undefined && <p className="meta chips">{about}</p>}
      {pendingOf(plan, 6)}
      {isChanged && <p className="amber">{words.undo.planChanged}</p>}
      {write.error && <Failure of={write.error} onRetry={() => void plan.refetch()} />}
      {seen && total === 0 && <Empty title={words.undo.nothing} />}
      {seen && total > 0 && (
        <>
          <Numbers
            plan={seen}
            what={seen.by.map((each) => counted(each.count, types, each.record_type, each.kind))}
          />
          <Fields items={[...seen.data, ...seen.also]} counted={countedOf} />
          <Left base={base} plan={seen} types={types} counted={countedOf}>
            <label>
              <input type="radio" name={name} checked={!isForced} onChange={() => setForced(false)} />{' '}
              {words.undo.leave(seen.skipped.length + seen.also.length)}
            </label>
            <label>
              <input type="radio" name={name} checked={isForced} onChange={() => setForced(true)} />{' '}
              <Text>{words.undo.takeToo(later)}</Text>
            </label>
          </Left>
          <Sent base={base} plan={seen} />
          <label className="switch">
            <input type="checkbox" checked={withEffects} onChange={() => setWithEffects(!withEffects)} />{' '}
            {words.undo.withEffects}
          </label>
        </>
      )}
    </Dialog>
  )
}
