/** Writes of several records: one transaction, tried first, and undone by its request. */
import { useState } from 'react'
import { newKey, pathOf, useAsk, useWrite } from '../../api/queries.ts'
import type { Data, Page, RecordType, Row } from '../../api/shapes.ts'
import { pendingOf, sayDone } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChangesInLine, differences } from '../../parts/diff.tsx'
import { patchOf } from '../../parts/form.tsx'
import { counted, titleOf } from '../../parts/record-types.ts'
import { HOUR, startOfDay, Text, timeNow } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Linked } from './load.ts'

/** An act on the selected records. */
export type ActProps = {
  base: string
  type: RecordType
  rows: readonly Linked[]
  onClose: () => void
  onDone: () => void
}

export const countOf = (type: RecordType, count: number): string => counted(count, [type], type.id, 'record')

export type Operation = {
  type: 'patch_record' | 'upsert_record' | 'delete_record'
  record_type: string
  id: string
  data?: unknown
  expected_version?: number
}

/** An operation on a row as it is shown. */
export const operationOn = (
  { id, record_type, version }: Linked,
  of: Pick<Operation, 'type' | 'data'>,
): Operation => ({ ...of, record_type, id, expected_version: version })

/** `done` says what was done, with the way back. */
export function useBatch(base: string, operations: readonly Operation[], done: string, onDone: () => void) {
  const [request] = useState(newKey)
  const body = { operations }
  const tried = useAsk(pathOf([base, 'batch'], { dry_run: true }), body, {
    enabled: operations.length > 0,
    keep: true,
  })
  const write = useWrite(base)
  const saidDone = () => {
    onDone()
    sayDone(done, base, request)
  }
  const carryOut = () =>
    write.send('POST', pathOf([base, 'batch']), body, saidDone, { 'x-request-id': request })
  const isReady = operations.length > 0 && tried.isSuccess
  const error = write.error ?? (operations.length > 0 ? tried.error : null)
  /** The act of the dialog. */
  return (label: string) => ({
    label,
    isReady,
    onSelect: carryOut,
    write: { isPending: write.isPending, error },
  })
}

const SHOWN = 20
/** The form that a field of a time takes, in the time of the reader. */
const local = (ms: number) =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

export function UndoSince({ base, type, rows, onClose, onDone }: ActProps) {
  const [since, setSince] = useState(() => local(timeNow() - HOUR))
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
  const act = useBatch(
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
      act={act(words.records.undoDo(countOf(type, plans.length)))}
    >
      <div className="chips">
        <label className="row since">
          {words.records.since}{' '}
          <input
            type="datetime-local"
            value={since}
            max={local(timeNow())}
            onChange={({ target }) => setSince(target.value)}
          />
        </label>
        <Button label={words.records.moments.hour} onClick={() => setSince(local(timeNow() - HOUR))} />
        <Button label={words.records.moments.today} onClick={() => setSince(local(startOfDay(timeNow())))} />
      </div>
      {pendingOf(then, 4) ?? (
        <ul className="pairs">
          {plans.slice(0, SHOWN).map(({ row, patch }) => (
            <li key={row.id} className="stack gap-3 py-1 ruled">
              <Text>{titleOf(row, type)}</Text>
              <ChangesInLine changes={differences(row.data, { ...row.data, ...patch })} />
            </li>
          ))}
          {plans.length === 0 && (
            <li className="stack gap-3 py-1 ruled note">{words.records.nothingSince}</li>
          )}
          {plans.length > SHOWN && (
            <li className="stack gap-3 py-1 ruled note">{words.andMore(plans.length - SHOWN)}</li>
          )}
        </ul>
      )}
      {absent > 0 && <p className="note">{words.records.absentThen(countOf(type, absent))}</p>}
    </Dialog>
  )
}
