/** Fields in place, by the JSON Schema of the type. The server says what does not fit while one types. */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { type Data, type Json, pathOf, type RecordType, type Row, useWrite } from '../../api/queries.ts'
import { Failure as Refused, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { ChangesInTable } from '../../parts/diff.tsx'
import { Form, patchOf, useFaults } from '../../parts/form.tsx'
import { own } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Place, recordPath } from './load.ts'

type Props = { place: Place; row: Row; type: RecordType; onEnd: () => void }

export function Edit({ place, row, type, onEnd }: Props) {
  // What the record was when the edit began: others may change it meanwhile.
  const [began, setBegan] = useState(row)
  const [typed, setTyped] = useState<Data>(row.data)
  const patch = useMemo(() => patchOf(began.data, typed), [began, typed])
  const count = Object.keys(patch).length
  const path = pathOf(recordPath(place))
  const faults = useFaults('PATCH', path, count > 0 ? { data: patch } : undefined)
  const write = useWrite<Row>(place.base)
  const isConflict = write.error?.status === 409 || write.error?.status === 412
  const done = (saved: Row) => {
    say(words.record.saved(saved.version))
    onEnd()
  }
  const save = (version: number) =>
    write.send('PATCH', path, { data: patch }, done, { 'if-match': `"${version}"` })
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (count > 0) save(began.version)
  }
  return (
    <form
      ref={form}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onEnd()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
      }}
    >
      <Form type={type} value={typed} onChange={setTyped} faults={faults} />
      {isConflict ? (
        <Conflict
          mine={patch}
          began={began}
          theirs={row}
          onTheirs={onEnd}
          onMine={() => {
            setBegan(row)
            save(row.version)
          }}
        />
      ) : (
        write.error && <Refused of={write.error} />
      )}
      <footer className="row gap-3 over form-foot">
        <Button label={words.cancel} kbd="Esc" onClick={onEnd} />
        <Button
          type="submit"
          className="primary"
          label={count === 0 ? words.record.nothingToSave : words.record.save(count, began.version + 1)}
          disabled={count === 0 || write.isPending}
        />
      </footer>
    </form>
  )
}

/** It comes below what was typed, where nobody looks. */
const show = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'center' })

type ConflictProps = { mine: Data; began: Row; theirs: Row; onTheirs: () => void; onMine: () => void }

function Conflict({ mine, began, theirs, onTheirs, onMine }: ConflictProps) {
  const theirPatch = patchOf(began.data, theirs.data)
  const row = (whose: string, patch: Data) =>
    Object.entries(patch).map(([name, to]) => ({
      name: `${fieldName(name)} (${whose})`,
      from: own(began.data, name),
      to: to as Json,
    }))
  return (
    <section className="amber" role="alert" ref={show}>
      <p>{words.record.theirs}</p>
      <ChangesInTable
        changes={[...row(words.record.mineName, mine), ...row(words.record.theirsName, theirPatch)]}
      />
      <span className="chips">
        <Button label={words.record.takeTheirs} onClick={onTheirs} />
        <Button label={words.record.keepMine} onClick={onMine} />
      </span>
    </section>
  )
}
