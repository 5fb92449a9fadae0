/** One field of all selected records gets a value. */
import { useState } from 'react'
import type { Json } from '../../api/shapes.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Labelled } from '../../parts/form.tsx'
import { fieldsOf, own, stateField } from '../../parts/record-types.ts'
import { Select } from '../../parts/select.tsx'
import { fieldName } from '../../parts/text.ts'
import { words } from '../../words.ts'
import { type ActProps, countOf, operationOn, useBatch } from './batch.ts'

export function SetField({ base, type, rows, onClose, onDone }: ActProps) {
  const fields = fieldsOf(type)
  const [name, setName] = useState(stateField(type)?.name ?? fields[0]?.name ?? '')
  const [value, setValue] = useState<Json | undefined>()
  const field = fields.find((each) => each.name === name)
  const concerned = rows.filter(({ data }) => JSON.stringify(own(data, name)) !== JSON.stringify(value))
  const isRequired = type.json_schema.required?.includes(name) === true
  const isAsked = value !== undefined || !isRequired
  const batch = useBatch(
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
      act={batch.act(words.records.change(countOf(type, concerned.length)))}
    >
      <div className="labelled">
        <label htmlFor="field">{words.records.field}</label>
        <Select
          id="field"
          options={fields.map((each) => [each.name, fieldName(each.path)])}
          value={name}
          onChange={(next) => {
            setName(next)
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
      {batch.error && <Failure of={batch.error} />}
    </Dialog>
  )
}
