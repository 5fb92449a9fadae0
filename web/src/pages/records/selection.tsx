/** What can be done with the records that are selected. Each act shows its plan first, and can be undone. */
import { useState } from 'react'
import type { RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { useMay } from '../../parts/grants.ts'
import { useKey } from '../../shell/keys.tsx'
import { words } from '../../words.ts'
import { DeleteRecords } from './delete-records.tsx'
import type { Linked } from './load.ts'
import { SetField } from './set-field.tsx'
import { UndoSince } from './undo-since.tsx'

type Props = {
  base: string
  type: RecordType
  rows: readonly Linked[]
  onClear: () => void
  onDone: () => void
}
const ACTS = { set: SetField, undo: UndoSince, delete: DeleteRecords }

export function Selection({ base, type, rows, onClear, onDone }: Props) {
  const [act, setAct] = useState<keyof typeof ACTS>()
  useKey('Escape', onClear)
  const Act = act && ACTS[act]
  const mayWrite = useMay(base, type.id, 'write')
  const of = (name: keyof typeof ACTS) => ({
    disabled: !mayWrite,
    title: mayWrite ? undefined : words.mayNotWrite,
    onClick: () => setAct(name),
  })
  return (
    <div className="chips floating selection" role="toolbar" aria-label={words.records.selected(rows.length)}>
      <strong>{words.records.selected(rows.length)}</strong>
      <Button label={words.records.setField} {...of('set')} />
      <Button icon="undo" label={words.records.undoSince} {...of('undo')} />
      <Button label={words.delete} {...of('delete')} />
      <button type="button" className="quiet" onClick={onClear}>
        {words.records.clear} <kbd className="wide-only">esc</kbd>
      </button>
      {Act && (
        <Act
          base={base}
          type={type}
          rows={rows}
          onClose={() => setAct(undefined)}
          onDone={() => {
            setAct(undefined)
            onClear()
            onDone()
          }}
        />
      )}
    </div>
  )
}
