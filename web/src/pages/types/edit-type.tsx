/** What a record type is called, and which field names its records. Without a type: a new one. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { useType } from '../../api/queries.ts'
import type { Data, RecordType } from '../../api/shapes.ts'
import { Form, patchOf } from '../../parts/form.tsx'
import { nameOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import { keyOf } from './load.ts'
import { TypeChange } from './trial.tsx'

const text = (maxLength: number) => ({ type: 'string', maxLength })

/** A type of its own begins with the field that names its records. */
const FIRST = { type: 'object', properties: { title: text(200) }, required: ['title'] }

type Props = { base: string; type?: RecordType; onClose: () => void }

export function EditType({ base, type, onClose }: Props) {
  const began: Data = type ? draftOf(type) : {}
  const [draft, setDraft] = useState(began)
  const id = type?.id ?? keyOf(draft['name'])
  const isOther = useType(base, id) !== undefined && !type
  const { plural, title, ...own } = patchOf(began, draft)
  const display = { ...(plural !== undefined && { plural }), ...(title !== undefined && { title }) }
  const isChanged = JSON.stringify(began) !== JSON.stringify(draft)
  const fields = Object.keys(type?.json_schema.properties ?? {})
  const properties = {
    name: text(100),
    plural: text(100),
    ...(type && { title: { enum: fields } }),
    description: text(1000),
  }
  const body = {
    ...own,
    ...(Object.keys(display).length > 0 && { display }),
    ...(!type && { json_schema: FIRST }),
  }
  return (
    <TypeChange
      base={base}
      id={id}
      type={type}
      title={type ? words.types.editTitle(nameOf(type, type.id)) : words.types.make}
      act={type ? words.types.save : words.types.makeAct}
      body={isChanged && id !== '' && !isOther ? body : undefined}
      {...(!type && { onDone: (made: RecordType) => navigate(to.types(base, made.id)) })}
      onClose={onClose}
    >
      <Form
        type={{ display: {}, json_schema: { properties, required: ['name'] } }}
        value={draft}
        onChange={setDraft}
        faults={[]}
      />
    </TypeChange>
  )
}

const draftOf = ({ name, description, display: { plural, title } }: RecordType): Data => ({
  ...(name !== null && { name }),
  ...(plural !== undefined && { plural }),
  ...(title !== undefined && { title }),
  ...(description !== null && { description }),
})
