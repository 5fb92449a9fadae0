/** A new record, by the schema of its type. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, useWrite } from '../../api/queries.ts'
import type { Data, RecordType, Row } from '../../api/shapes.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Form, useFaults } from '../../parts/form.tsx'
import { nameOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'

export function NewRecord({ base, type, onClose }: { base: string; type: RecordType; onClose: () => void }) {
  const [typed, setTyped] = useState<Data>({})
  const path = pathOf([base, 'records', type.id])
  const isTouched = Object.keys(typed).length > 0
  const faults = useFaults('POST', path, isTouched ? { data: typed } : undefined)
  // What is still empty is no fault while one types.
  const shown = faults.filter(
    ({ path: at }) => at.split('/').length > 2 && Object.hasOwn(typed, at.split('/')[2] ?? ''),
  )
  const write = useWrite<Row>(base)
  const name = nameOf(type, type.id).toLowerCase()
  const create = () =>
    write.send('POST', path, { data: typed }, ({ id }) => navigate(to.record(base, type.id, id)))
  return (
    <Dialog
      title={words.records.make(name)}
      onClose={onClose}
      act={{
        label: words.records.create(name),
        isReady: isTouched && !write.isPending,
        onSelect: create,
        isForm: true,
      }}
    >
      <Form
        type={type}
        value={typed}
        onChange={setTyped}
        faults={write.error ? write.error.details : shown}
      />
      {write.error && <Failure of={write.error} />}
    </Dialog>
  )
}
