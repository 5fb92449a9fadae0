/** What can be done with the records that are selected. Each act shows its plan first, and can be undone. */
import { useState } from 'react'
import { type Json, useBase } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
import { Rows } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Fields } from '../../parts/fields.tsx'
import { Labelled } from '../../parts/form.tsx'
import { useMay } from '../../parts/grants.ts'
import { fieldsOf, own, stateField, titleOf } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { useKey } from '../../shell/keys.tsx'
import { words } from '../../words.ts'
import { type ActProps, countOf, operationOn, UndoSince, useBatch } from './batch.tsx'

type Props = Omit<ActProps, 'onClose'> & { onClear: () => void }
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
      <Button className="quiet" label={words.records.clear} kbd="esc" onClick={onClear} />
      {Act && (
        <Act
          {...{ base, type, rows }}
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

const NAMED = 6

/** Deletes the selected records, with the names of the first ones before it does. */
function DeleteRecords({ base, type, rows, onClose, onDone }: ActProps) {
  const days = useBase(base).data?.settings.trash_days
  const act = useBatch(
    base,
    rows.map((row) => operationOn(row, { type: 'delete_record' })),
    words.records.deletedDone(countOf(type, rows.length)),
    onDone,
  )
  return (
    <Dialog
      title={words.records.deleteTitle(countOf(type, rows.length))}
      onClose={onClose}
      act={{ ...act(words.records.deleteDo(countOf(type, rows.length))), tone: 'danger' }}
    >
      <Rows most={NAMED} of={rows.map((row) => [row.id, <Text key={row.id}>{titleOf(row, type)}</Text>])} />
      {days !== undefined && <p className="note">{words.records.comesBack(days)}</p>}
    </Dialog>
  )
}

/** One field of all selected records gets a value. */
function SetField({ base, type, rows, onClose, onDone }: ActProps) {
  const fields = fieldsOf(type)
  const [name, setName] = useState(stateField(type)?.name ?? fields[0]?.name ?? '')
  const [value, setValue] = useState<Json | undefined>()
  const field = fields.find((each) => each.name === name)
  const options = fields.map((each) => [each.name, fieldName(each.path)] as const)
  const concerned = rows.filter(({ data }) => JSON.stringify(own(data, name)) !== JSON.stringify(value))
  const isRequired = type.json_schema.required?.includes(name) === true
  const isAsked = value !== undefined || !isRequired
  const act = useBatch(
    base,
    isAsked
      ? concerned.map((row) => operationOn(row, { type: 'patch_record', data: { [name]: value ?? null } }))
      : [],
    words.records.set(countOf(type, concerned.length), fieldName(name)),
    onDone,
  )
  return (
    <Dialog
      title={words.records.setTitle(countOf(type, rows.length))}
      onClose={onClose}
      act={act(words.records.change(countOf(type, concerned.length)))}
    >
      <div className="labelled">
        <Fields
          of={[{ name: 'name', label: words.records.field, options }]}
          draft={{ name }}
          onChange={(next) => {
            setName(next.name)
            setValue(undefined)
          }}
        />
      </div>
      {field && (
        <Labelled
          key={name}
          field={field}
          isRequired={isRequired}
          value={value}
          fault={undefined}
          onChange={setValue}
        />
      )}
      {value === undefined && !isRequired && <p className="note">{words.records.empties}</p>}
    </Dialog>
  )
}
