/** Deletes the selected records, with the names of the first ones before it does. */
import { useBase } from '../../api/queries.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { titleOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import { type ActProps, countOf, operationOn, useBatch } from './batch.ts'

const NAMED = 6

export function DeleteRecords({ base, type, rows, onClose, onDone }: ActProps) {
  const days = useBase(base).data?.settings.trash_days
  const batch = useBatch(
    base,
    rows.map((row) => operationOn(row, { type: 'delete_record' })),
    words.records.deletedDone(countOf(type, rows.length)),
    onDone,
  )
  return (
    <Dialog
      title={words.records.deleteTitle(countOf(type, rows.length))}
      onClose={onClose}
      act={{ ...batch.act(words.records.deleteDo(countOf(type, rows.length))), tone: 'danger' }}
    >
      <ul>
        {rows.slice(0, NAMED).map((row) => (
          <li key={row.id}>
            <Text>{titleOf(row, type)}</Text>
          </li>
        ))}
        {rows.length > NAMED && <li className="note">{words.andMore(rows.length - NAMED)}</li>}
      </ul>
      {days !== undefined && <p className="note">{words.records.comesBack(days)}</p>}
      {batch.error && <Failure of={batch.error} />}
    </Dialog>
  )
}
