/** The selected records become what they were at a time. What that changes is shown first. */
import { useState } from 'react'
import { pathOf, useAsk } from '../../api/queries.ts'
import type { Data, Page, Row } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChangesInLine, differences } from '../../parts/diff.tsx'
import { Failure, pendingOf } from '../../parts/failure.tsx'
import { patchOf } from '../../parts/form.tsx'
import { titleOf } from '../../parts/record-types.ts'
import { Text } from '../../parts/text.tsx'
import { HOUR, startOfDay } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { type ActProps, countOf, operationOn, useBatch } from './batch.ts'

const SHOWN = 20
/** The form that a field of a time takes, in the time of the reader. */
const local = (ms: number) =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

export function UndoSince({ base, type, rows, onClose, onDone }: ActProps) {
  const [since, setSince] = useState(() => local(Date.now() - HOUR))
  const ids = rows.map(({ id }) => id)
  const body = {
    as_of: new Date(since || 0).toISOString(),
    filter: { field: 'id', op: 'in', value: ids },
    limit: 1000,
  }
  const then = useAsk<Page<Row>>(pathOf([base, 'records', type.id, 'query']), body, {
    enabled: since !== '',
    keep: true,
  })
  const was = new Map(then.data?.data.map((row) => [row.id, row]))
  const plans = rows.flatMap((row) => {
    const before = was.get(row.id)
    const patch: Data = before ? patchOf(row.data, before.data) : {}
    return Object.keys(patch).length > 0 ? [{ row, patch }] : []
  })
  const absent = rows.filter(({ id }) => then.data && !was.has(id)).length
  const batch = useBatch(
    base,
    plans.map(({ row, patch }) => operationOn(row, { type: 'patch_record', data: patch })),
    words.records.wentBack(countOf(type, plans.length)),
    onDone,
  )
  return (
    <Dialog
      isWide
      title={words.records.undoTitle(countOf(type, rows.length))}
      onClose={onClose}
      act={batch.act(words.records.undoDo(countOf(type, plans.length)))}
    >
      <div className="chips">
        <label className="row since">
          {words.records.since}{' '}
          <input
            type="datetime-local"
            value={since}
            max={local(Date.now())}
            onChange={({ target }) => setSince(target.value)}
          />
        </label>
        <Button label={words.records.moments.hour} onClick={() => setSince(local(Date.now() - HOUR))} />
        <Button label={words.records.moments.today} onClick={() => setSince(local(startOfDay(Date.now())))} />
      </div>
      {pendingOf(then, 4) ?? (
        <ul className="pairs">
          {plans.slice(0, SHOWN).map(({ row, patch }) => (
            <li key={row.id}>
              <Text>{titleOf(row, type)}</Text>
              <ChangesInLine changes={differences(row.data, { ...row.data, ...patch })} />
            </li>
          ))}
          {plans.length === 0 && <li className="note">{words.records.nothingSince}</li>}
          {plans.length > SHOWN && <li className="note">{words.andMore(plans.length - SHOWN)}</li>}
        </ul>
      )}
      {absent > 0 && <p className="note">{words.records.absentThen(countOf(type, absent))}</p>}
      {batch.error && <Failure of={batch.error} />}
    </Dialog>
  )
}
