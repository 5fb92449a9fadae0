/** What a record type is called, and what its fields hold. Without a type or a field: a new one. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { typeIdOf } from '../../../../src/contract/ids.ts'
import { to } from '../../addresses.ts'
import { type Data, type RecordType, useType } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
import { Form, patchOf } from '../../parts/form.tsx'
import { nameOf, own } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { bodyOf, draftOf, draftSchema } from './draft.ts'
import { keyOf } from './load.ts'
import { TypeChange } from './trial.tsx'

const TAKEN = [{ path: '/data/name', message: words.types.taken }]
const text = (maxLength: number) => ({ type: 'string', maxLength })

/** A type of its own begins with the field that names its records. */
const FIRST = { type: 'object', properties: { title: text(200) }, required: ['title'] }

export function EditType({ base, type, onClose }: { base: string; type?: RecordType; onClose: () => void }) {
  const began: Data = type ? namesOf(type) : {}
  const [draft, setDraft] = useState(began)
  const id = type?.id ?? typeIdOf(String(draft['name'] ?? ''))
  const isOther = useType(base, id) !== undefined && !type
  const { plural, title, ...own } = patchOf(began, draft)
  const display = { ...(plural !== undefined && { plural }), ...(title !== undefined && { title }) }
  const isChanged = JSON.stringify(began) !== JSON.stringify(draft)
  const properties = {
    name: text(100),
    plural: text(100),
    ...(type && { title: { enum: Object.keys(type.json_schema.properties ?? {}) } }),
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
        faults={isOther ? TAKEN : []}
      />
    </TypeChange>
  )
}

const namesOf = ({ name, description, display: { plural, title } }: RecordType): Data => ({
  ...(name !== null && { name }),
  ...(plural !== undefined && { plural }),
  ...(title !== undefined && { title }),
  ...(description !== null && { description }),
})

type FieldProps = { base: string; type: RecordType; name: string | undefined; onClose: () => void }

export function EditField({ base, type, name, onClose }: FieldProps) {
  const began = draftOf(type, name)
  const [draft, setDraft] = useState<Data>(began)
  const [isGone, setGone] = useState(false)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(began)
  const change = isChanged ? bodyOf(type, name, draft) : undefined
  const shown = fieldName(name ?? String(own(draft, words.types.draft.name) ?? words.types.newField))
  return (
    <TypeChange
      base={base}
      id={type.id}
      type={type}
      title={words.types.fieldTitle(nameOf(type, type.id), shown)}
      act={isGone ? words.types.dropAct(shown) : name === undefined ? words.types.addField : words.types.save}
      tone={isGone ? 'danger' : undefined}
      body={isGone ? { migration: [{ op: 'drop', field: `data.${name}` }] } : change}
      foot={
        name !== undefined && (
          <Button
            className="quiet"
            label={isGone ? words.types.keepField : words.types.dropField}
            onClick={() => setGone(!isGone)}
          />
        )
      }
      onClose={onClose}
    >
      {isGone ? (
        <p>{words.types.dropAbout}</p>
      ) : (
        <Form
          type={{ display: {}, json_schema: draftSchema(type, name, draft) }}
          value={draft}
          onChange={setDraft}
          faults={isChanged && !change && keyOf(own(draft, words.types.draft.name)) !== '' ? TAKEN : []}
        />
      )}
    </TypeChange>
  )
}
